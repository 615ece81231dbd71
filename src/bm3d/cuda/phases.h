#pragma once
// Both phases of BM3D on frames that lie on a GPU: what a session plans once, and the order of the
// kernels. Who owns the frames decides which of them are searched together.

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

/// Groups that a set keeps from its first phase to its second, on the device:
/// CudaPhases::kept_references() of them, of CudaPhases::kept_capacity() members.
struct KeptOnDevice {
  std::uint32_t* displacements = nullptr;
  std::uint8_t* log2_counts = nullptr;
};

/// A frame on the device. Planes lie as CudaPhases::margins() says; those that do not exist are
/// null, and so are estimates and sums of planes that are not filtered.
struct DeviceFrame {
  std::array<float*, max_planes> noisy{}, basic{};
  std::array<float*, max_planes> shown{};  // the guide that came with it, of guided sessions
  std::array<Sums, max_planes> sums{};
  std::array<KeptOnDevice, max_planes> kept{};  // of sets, by their first plane
};

/// Where a guide is made, in the planes' layout.
struct GuideBuffer {
  std::uint8_t* samples = nullptr;
  std::int32_t* half_norms = nullptr;
  // Where frames may have holes: for bar_candidates().
  const std::uint8_t* barred = nullptr;
  std::int32_t* candidate_norms = nullptr;
};

class CudaPhases {
 public:
  /// Everything is queued on `stream`, there and later.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  CudaPhases(const Params& params, const FrameFormat& format, cudaStream_t stream,
             cuda::MatcherFactory make_matcher);

  bool filters_any() const { return !of(Phase::first).plan.sets.empty(); }
  bool is_filtered(int plane) const {
    return of(Phase::first).plan.noise.sigma(plane) > 0 && holds_a_patch(format_, plane);
  }
  /// Whether a plane as it is stored comes out changed. (RGB is filtered in another space.)
  bool changes(int plane) const {
    return params_.noise.sigma(plane) > 0 && holds_a_patch(format_, plane);
  }
  const Margins& margins(int plane) const { return geometry(plane).margins; }
  /// Elements of the greatest plane that is filtered, and how many are filtered together at most.
  std::size_t greatest_plane() const;
  int planes_together() const;
  /// Groups that a set of the first phase keeps for the second; 0: none.
  std::size_t kept_references(const PlaneSet& set) const;
  int kept_capacity() const { return kept_members(params_) <= 16 ? 16 : 32; }

  /// The sets of a phase, in the order in which they are filtered.
  const std::vector<PlaneSet>& sets(Phase phase) const { return of(phase).plan.sets; }
  /// The picture in which a set is matched. Clears the sums of its planes, on the way.
  [[nodiscard]] Guide make_guide_and_clear_sums(Phase phase, const PlaneSet& set,
                                                const DeviceFrame& frame, const GuideBuffer& to);
  /// Matches and filters the groups of the reference patches of frames[0], which is `frame`, and
  /// adds the estimates to the sums. `distance`: for each of `frames`, elements from plane to plane
  /// (of the set's size) from `frame` to it.
  void filter(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
              std::span<const SearchFrame> frames, std::span<const int> distance);
  // Phases by Bayes (bayes_phases_cuda.cpp):
  bool is_bayes(Phase phase) const { return of(phase).plan.is_bayes(); }
  /// Whether its result is blended into DeviceFrame::basic: of the first of them that is the basic
  /// estimate, of the second what is beside it (beside_third) must be there by then.
  bool is_blended(Phase phase) const {
    return is_bayes(phase) && (phase == Phase::third || params_.phases == 3);
  }
  /// The picture in which a set is matched, for those that have one made (PlaneSet::is_made()).
  void make_plane_guide(Phase phase, const PlaneSet& set, const DeviceFrame& frame, float* to);
  void clear_sums(const PlaneSet& set, const DeviceFrame& frame);
  /// As filter(). `guide`: of the reference patches' frame.
  void filter_by_bayes(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
                       std::span<const SearchFrame> frames, std::span<const int> distance,
                       const float* guide);

  /// The estimates of a set's planes, one for each plane of the frame: the quotients of their sums,
  /// blended with the basic estimates where the phase is.
  void normalise(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
                 const std::array<float*, max_planes>& estimates);
  /// The estimate of a plane, or the plane itself where it is not filtered.
  const float* basic_of(const DeviceFrame& frame, int plane) const {
    return is_filtered(plane) ? frame.basic[plane] : frame.noisy[plane];
  }

 private:
  /// What a phase has of its own.
  struct PhaseState {
    PhasePlan plan;
    std::unique_ptr<cuda::Matcher> matcher;
    std::unique_ptr<DftFilter> dft;  // null: another transform
    Covariances covariances;         // of planes whose noise is not white
  };
  /// What planes of one size share.
  struct Geometry {
    Margins margins;
    ReferenceGrid first_grid, second_grid;  // of phases with transforms
    ReferenceGrid searched_grid;            // of those whose groups are kept
  };
  /// Planes of the size of plane `i` have equal geometry.
  const Geometry& geometry(int i) const {
    return geometries_[format_.subsampled() && i > 0 ? 1 : 0];
  }
  const ReferenceGrid& grid(Phase phase, int i) const {
    return phase == Phase::first ? geometry(i).first_grid : geometry(i).second_grid;
  }
  const PhaseState& of(Phase phase) const { return states_[static_cast<std::size_t>(phase)]; }
  void plan_planes();
  void plan_batches();
  int bayes_rows(const PhasePlan& plan, int plane) const;
  void plan_bayes();
  void plan_phases(cuda::MatcherFactory make_matcher);
  void normalise_by_bayes(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
                          const std::array<float*, max_planes>& estimates);
  MixedPlane guide_of(Phase phase, const DeviceFrame& frame, int plane) const;
  ColourGuide made_guide(Phase phase, const PlaneSet& set, const DeviceFrame& frame) const;
  /// Reference patches of a set, so far apart, as bundles that share their motion.
  MotionGrid motion_grid(int step, const PlaneSet& set) const;
  /// The kept groups of a set.
  KeptGroupsView kept_groups(const PhasePlan& plan, const PlaneSet& set,
                             const DeviceFrame& frame) const;
  static Groups of_batch(const Groups& all, const Batch& batch);
  /// Sets `batch` to one part of the references after the other: `width` samples wide, 0 for all.
  template <class Use>
  void for_batches(const ReferenceGrid& references, int width, Batch& batch, Use use) const;
  /// The first phase's search for groups that are kept.
  void search(const PhaseState& phase, const PlaneSet& set, std::span<const SearchFrame> frames,
              const Groups& kept);
  // What a phase then does, batch by batch: it filters the groups that are kept, or finds its own.
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
  std::vector<PhaseState> states_;      // of all plans that the parameters know
  std::array<Geometry, 2> geometries_;  // of luma, and of subsampled chroma
  // Used by one set after the other; sized for the greatest.
  cuda::DeviceBuffer<std::uint32_t> displacements_;
  cuda::DeviceBuffer<std::uint8_t> log2_counts_;
  // The same for phases by Bayes.
  cuda::DeviceBuffer<std::uint32_t> members_;
  cuda::DeviceBuffer<std::uint8_t> counts_;
  cuda::DeviceBuffer<Motion> second_halves_;
};

}  // namespace lull::bm3d
