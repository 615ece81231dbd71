#pragma once
// Runs the phases of BM3D on frames in GPU memory.

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "bm3d/cuda/dft_cuda.h"
#include "bm3d/cuda/filter/covariance_cuda.h"
#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/phase_plan.h"
#include "bm3d/stabilisers.h"
#include "core/frame.h"
#include "cuda/handles.h"
#include "cuda/raw_frame.h"
#include "match/cuda/matcher.h"
#include "match/guide.h"

namespace lull::bm3d {

/// The groups that the first phase stores in device memory for the second phase, for one set of
/// planes: CudaPhases::kept_references() groups of up to CudaPhases::kept_capacity() members.
struct KeptOnDevice {
  std::uint32_t* displacements = nullptr;
  std::uint8_t* log2_counts = nullptr;
};

/// A frame on the device, in the layout of CudaPhases::margins(). Pointers to planes that do not
/// exist are null. For unfiltered planes, pointers to estimates and sums are also null.
struct DeviceFrame {
  std::array<float*, max_planes> noisy{}, basic{};
  /// The planes of Frame::guide. Only guided sessions use these planes.
  std::array<float*, max_planes> guide_planes{};
  std::array<Sums, max_planes> sums{};
  /// kept[i] contains the stored groups of the set of planes (PlaneSet) that begins with plane i.
  std::array<KeptOnDevice, max_planes> kept{};
};

/// Memory for a guide, in the layout of the planes.
struct GuideBuffer {
  std::uint8_t* samples = nullptr;
  std::int32_t* half_norms = nullptr;
  // `invalid` is nonzero at patches that overlap a hole of the frame. `candidate_norms` is a copy
  // of `half_norms` (half the squared norms of patches) in which a special value (`no_patch`)
  // excludes these patches from the candidates. Both pointers are null if frames cannot have holes.
  const std::uint8_t* invalid = nullptr;
  std::int32_t* candidate_norms = nullptr;
};

class CudaPhases {
 public:
  /// All functions queue their work on `stream`.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  CudaPhases(const Params& params, const FrameFormat& format, cudaStream_t stream,
             cuda::MatcherFactory make_matcher);

  bool filters_any() const { return !state_of(Phase::first).plan.sets.empty(); }
  bool is_filtered(int plane) const {
    return state_of(Phase::first).plan.noise.sigma(plane) > 0 && fits_patch(format_, plane);
  }
  /// Returns true if the filter changes plane `plane` of the input format. For RGB input, `plane`
  /// stands for R, G or B. In contrast, the argument of is_filtered() stands for a plane of the
  /// opponent colour space.
  bool changes(int plane) const {
    return params_.noise.sigma(plane) > 0 && fits_patch(format_, plane);
  }
  const Margins& margins(int plane) const { return geometry(plane).margins; }
  /// Returns the number of elements of the largest filtered plane.
  std::size_t largest_plane() const;
  /// Returns the maximum number of planes in a PlaneSet.
  int max_planes_per_set() const;
  /// Returns the number of groups that the first phase stores for the planes in `set`.
  std::size_t kept_references(const PlaneSet& set) const;
  int kept_capacity() const { return kept_members(params_) <= 16 ? 16 : 32; }

  /// Returns the sets of planes of a phase in processing order.
  const std::vector<PlaneSet>& sets(Phase phase) const { return state_of(phase).plan.sets; }
  /// Makes the guide of the planes in `set`, and clears the sums of these planes.
  [[nodiscard]] Guide make_guide_and_clear_sums(Phase phase, const PlaneSet& set,
                                                const DeviceFrame& frame, const GuideBuffer& to);
  /// Matches and filters the groups of `frame`, and adds the estimates to the sums. `frames` are
  /// the searched frames, and frames[0] is `frame` itself. distance[i] is the offset, in elements,
  /// from a plane of `frame` to the same plane of frames[i].
  void filter(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
              std::span<const SearchFrame> frames, std::span<const std::ptrdiff_t> distance);

  /// Computes the estimates of the planes in `set`. `estimates` has an element for each plane of
  /// the frame.
  void normalise(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
                 const std::array<float*, max_planes>& estimates);
  /// Returns the basic estimate of a filtered plane, and the noisy samples of any other plane.
  const float* basic_of(const DeviceFrame& frame, int plane) const {
    return is_filtered(plane) ? frame.basic[plane] : frame.noisy[plane];
  }

 private:
  /// The data that the kernels of one phase need.
  struct PhaseState {
    PhasePlan plan;
    std::unique_ptr<cuda::Matcher> matcher;
    std::unique_ptr<DftFilter> dft;  // null: the transform is not the DFT
    Covariances covariances;         // only for planes with coloured noise
  };
  /// Properties of a plane that depend only on its size. Planes of equal size share one object.
  struct Geometry {
    Margins margins;
    ReferenceGrid first_grid, second_grid;
    ReferenceGrid searched_grid;  // reference patches whose groups are stored
  };
  const Geometry& geometry(int i) const {
    return geometries_[format_.subsampled() && i > 0 ? 1 : 0];
  }
  const ReferenceGrid& grid(Phase phase, int i) const {
    return phase == Phase::first ? geometry(i).first_grid : geometry(i).second_grid;
  }
  const PhaseState& state_of(Phase phase) const { return states_[static_cast<std::size_t>(phase)]; }
  void plan_planes();
  void plan_batches();
  void plan_phases(cuda::MatcherFactory make_matcher);
  void clear_sums(const PlaneSet& set, const DeviceFrame& frame);
  MixedPlane guide_of(Phase phase, const DeviceFrame& frame, int plane) const;
  ColourGuide composite_guide(Phase phase, const PlaneSet& set, const DeviceFrame& frame) const;
  /// Returns the bundles (8x4 reference patches with one motion vector, match/motion_grid.h) for
  /// the planes in `set`. `step` is the step of the reference patches.
  MotionGrid motion_grid(int step, const PlaneSet& set) const;
  /// Returns the stored groups of the planes in `set`.
  KeptGroupsView kept_groups(const PhasePlan& plan, const PlaneSet& set,
                             const DeviceFrame& frame) const;
  static Groups of_batch(const Groups& all, const Batch& batch);
  /// Divides the reference patches into batches. For each batch, sets `batch` and calls use().
  template <class Use>
  void for_batches(const ReferenceGrid& references, bool whole_rows, Batch& batch, Use use) const;
  /// Searches for the groups that the first phase stores.
  void search(const PhaseState& phase, const PlaneSet& set, std::span<const SearchFrame> frames,
              const Groups& kept);
  // Functions that filter the groups of a phase batch by batch: one function for each source of
  // groups (stored groups, propagation and search).
  void filter_kept(const PhaseState& phase, const Groups& kept, const CovarianceViews& covariances,
                   FilterArgs& args);
  void propagate_and_filter(const PhaseState& phase, const MatchParams& matching,
                            std::span<const SearchFrame> frames, const KeptGroupsView& kept,
                            const CovarianceViews& covariances, FilterArgs& args);
  void search_and_filter(const PhaseState& phase, const MatchParams& matching,
                         std::span<const SearchFrame> frames, const CovarianceViews& covariances,
                         FilterArgs& args);
  void filter_batch(const PhaseState& phase, const CovarianceViews& covariances,
                    const FilterArgs& args);

  Params params_;
  FrameFormat format_;
  cudaStream_t stream_;
  cuda::DeviceLimits device_ = cuda::device_limits();
  std::vector<PhaseState> states_;      // one for each of all_phases
  std::array<Geometry, 2> geometries_;  // one for luma, and one for subsampled chroma
  // Buffers that the sets of planes (PlaneSet) use one after the other, with the size for the
  // largest set.
  cuda::DeviceBuffer<std::uint32_t> displacements_;
  cuda::DeviceBuffer<std::uint8_t> log2_counts_;
};

}  // namespace lull::bm3d
