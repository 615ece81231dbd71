#pragma once
// Both phases of BM3D on frames that lie on a GPU: what a session plans once, and the order of the
// kernels. Who owns the frames decides which of them are searched together.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "bm3d/dft_cuda.h"
#include "bm3d/guide.h"
#include "bm3d/kernels.h"
#include "core/frame.h"
#include "cuda/handles.h"

namespace lull::bm3d {

/// Results that wait for a sink, usually: page-locked memory for them is had in advance.
inline constexpr int results_that_wait = 6;

/// A frame on the device. Planes lie as CudaPhases::margins() says; those that do not exist are
/// null, and so are estimates and sums of planes that are not filtered.
struct DeviceFrame {
  std::array<float*, max_planes> noisy{}, basic{};
  std::array<Sums, max_planes> sums{};
};

/// Where a guide is made, in the planes' layout.
struct GuideBuffer {
  std::uint8_t* samples = nullptr;
  std::int32_t* half_norms = nullptr;
};

class CudaPhases {
 public:
  /// Everything is queued on `stream`, there and later.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  CudaPhases(const Params& params, const FrameFormat& format, cudaStream_t stream);

  bool filters_any() const { return !first_sets_.empty(); }
  bool is_filtered(int plane) const { return sigma_[plane] > 0 && holds_a_patch(format_, plane); }
  /// Whether a plane as it is stored comes out changed. (RGB is filtered in another space.)
  bool changes(int plane) const {
    return params_.sigma[plane] > 0 && holds_a_patch(format_, plane);
  }
  const Margins& margins(int plane) const { return geometry(plane).margins; }
  /// Elements of the greatest plane that is filtered, and how many are filtered together at most.
  std::size_t greatest_plane() const;
  int planes_together() const;

  /// The sets of a phase, in the order in which they are filtered.
  const std::vector<PlaneSet>& sets(Phase phase) const {
    return phase == Phase::first ? first_sets_ : second_sets_;
  }
  /// The picture in which a set is matched. Clears the sums of its planes.
  [[nodiscard]] Guide make_guide(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
                                 const GuideBuffer& to);
  /// Matches and filters the groups of the reference patches of frames[0], which is `frame`, and
  /// adds the estimates to the sums. `distance`: for each of `frames`, elements from plane to plane
  /// (of the set's size) from `frame` to it.
  void filter(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
              std::span<const SearchFrame> frames, std::span<const int> distance);
  /// The estimate of a plane: the quotient of its sums.
  void normalise(Phase phase, int plane, const DeviceFrame& frame, float* estimate);
  /// The estimate of a plane, or the plane itself where it is not filtered.
  const float* basic_of(const DeviceFrame& frame, int plane) const {
    return is_filtered(plane) ? frame.basic[plane] : frame.noisy[plane];
  }

 private:
  /// What planes of one size share.
  struct Geometry {
    Margins margins;
    ReferenceGrid hard_grid, wiener_grid;
  };
  /// A picture to match in, and the least and greatest value that pictures free of noise have
  /// there.
  struct GuidePlane {
    MixedPlane plane;
    float low, high;
    float sigma = 0;  // of the noise in it
  };

  /// Planes of the size of plane `i` have equal geometry.
  const Geometry& geometry(int i) const {
    return geometries_[format_.subsampled() && i > 0 ? 1 : 0];
  }
  const PhaseParams& parameters(Phase phase) const {
    return phase == Phase::first ? params_.hard : params_.wiener;
  }
  void plan_planes();
  void plan_batches();
  MixedPlane guide_of(Phase phase, const DeviceFrame& frame, int plane) const;
  GuidePlane luma_guide(Phase phase, const DeviceFrame& frame) const;
  GuidePlane made_guide(Phase phase, const PlaneSet& set, const DeviceFrame& frame);
  /// The reference patches of a set as blocks that share their motion.
  MotionGrid motion_grid(Phase phase, const PlaneSet& set) const;
  void run_batches(Phase which, const PhaseParams& phase, std::span<const SearchFrame> frames,
                   FilterArgs& args);

  Params params_;
  FrameFormat format_;
  cudaStream_t stream_;
  std::array<float, max_planes> sigma_{};  // of the planes that are filtered: of Y, U, V for RGB
  std::vector<PlaneSet> first_sets_, second_sets_;
  std::array<Geometry, 2> geometries_;  // of luma, and of subsampled chroma
  std::array<float, patch> hard_window_{}, wiener_window_{};
  MatchPlan hard_plan_, wiener_plan_;
  TimePlan hard_time_plan_, wiener_time_plan_;
  // Used by one set after the other; sized for the greatest.
  cuda::DeviceBuffer<float> made_guide_;
  cuda::DeviceBuffer<std::uint32_t> displacements_;
  cuda::DeviceBuffer<std::uint8_t> log2_counts_;
  std::unique_ptr<DftFilter> hard_dft_, wiener_dft_;
};

/// Zeroed on `stream`, so that margins hold no noise: they are read, though nothing depends on
/// them.
template <class T>
cuda::DeviceBuffer<T> zeroed(std::size_t size, cudaStream_t stream) {
  cuda::DeviceBuffer<T> buffer(size);
  cuda::check(cudaMemsetAsync(buffer.get(), 0, buffer.bytes(), stream));
  return buffer;
}

}  // namespace lull::bm3d
