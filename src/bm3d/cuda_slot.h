#pragma once
// Everything that one frame needs on a GPU, from its upload to its download: planned once, used for
// every frame. Made and used while its device is current.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "bm3d/device_picture.h"
#include "bm3d/dft_cuda.h"
#include "bm3d/kernels.h"
#include "core/frame.h"
#include "cuda/handles.h"

namespace lull::bm3d {

class CudaSlot {
 public:
  /// @throws DeviceUnavailable when device memory does not suffice
  CudaSlot(const Params& params, const FrameFormat& format);
  /// Waits for the frame in flight: its buffers must not go before.
  ~CudaSlot();

  /// Begins a frame: upload, kernels and download are queued, nothing is waited for. The slot must
  /// be free. Samples of `clean` are written later.
  void start(Frame noisy, Frame clean);
  /// Waits for the frame in flight and gives it; nullopt if there is none.
  std::optional<Frame> finish();

  // The parts of start(), for benchmarks.
  void upload(const Frame& noisy);
  void filter();
  void download(const Frame& noisy, Frame& clean);
  cudaStream_t stream() const noexcept { return stream_.get(); }

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
  using PlaneBuffers = std::array<cuda::DeviceBuffer<float>, max_planes>;

  void bring_samples(const Frame& noisy);               // to raw_
  void to_planes();                                     // raw_ to noisy_planes_
  void to_samples();                                    // the result to raw_
  void take_samples(const Frame& noisy, Frame& clean);  // from raw_
  void run_kernels();                                   // of a frame, all of them
  bool changes(int plane) const;
  void plan_planes();
  void plan_batches();
  bool holds_a_patch(int plane) const;
  bool is_filtered(int plane) const;
  /// Planes of the size of plane `i` have equal geometry.
  const Geometry& geometry(int i) const {
    return geometries_[format_.subsampled() && i > 0 ? 1 : 0];
  }
  /// The estimate of a plane, or the plane itself where it is not filtered.
  const float* estimate(const PlaneBuffers& estimates, int i) const;

  MixedPlane guide_of(Phase which, int plane) const;
  GuidePlane luma_guide(Phase which) const;
  GuidePlane colour_guide(Phase which);
  void run_phase(Phase which, const std::vector<int>& planes, const GuidePlane& guide,
                 float tau_factor = 1);
  /// Also clears the sums of `args`.
  Guide quantise(const GuidePlane& plane, const FilterArgs& args, float tau);
  void run_batches(Phase which, const PhaseParams& phase, const Guide& guide, FilterArgs& args);

  Params params_;
  FrameFormat format_;
  std::array<float, max_planes> sigma_{};  // of the planes that are filtered: of Y, U, V for RGB
  std::vector<int> luma_, chroma_;         // the planes that are filtered: at most {0} and {1, 2}
  cuda::Stream stream_;
  cuda::Event done_;
  cuda::GraphExec kernels_;             // run_kernels(), to be launched as one
  std::optional<Frame> noisy_, clean_;  // in flight; `noisy_` is kept until its upload is over

  std::array<cuda::DeviceBuffer<std::byte>, max_planes> raw_;
  RawPlanes raw_planes_;
  DevicePictureReader device_pictures_;
  std::array<Geometry, 2> geometries_;  // of luma, and of subsampled chroma
  MatchPlan hard_plan_, wiener_plan_;
  PlaneBuffers noisy_planes_, basic_, result_;
  cuda::DeviceBuffer<float> colour_guide_;
  // Used by one run of a phase after the other; sized for the greatest.
  cuda::DeviceBuffer<std::uint8_t> guide_samples_;
  cuda::DeviceBuffer<std::int32_t> half_norms_;
  std::array<cuda::DeviceBuffer<unsigned long long>, max_planes> numerators_;
  std::array<cuda::DeviceBuffer<std::uint32_t>, max_planes> denominators_;
  cuda::DeviceBuffer<std::uint32_t> displacements_;
  cuda::DeviceBuffer<std::uint8_t> log2_counts_;
  std::unique_ptr<DftFilter> hard_dft_, wiener_dft_;
};

}  // namespace lull::bm3d
