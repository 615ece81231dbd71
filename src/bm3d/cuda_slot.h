#pragma once
// Everything that one frame needs on a GPU, from its upload to its download: planned once, used for
// every frame. Made and used while its device is current.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "bm3d/dft_cuda.h"
#include "bm3d/kernels.h"
#include "core/frame.h"
#include "cuda/handles.h"

namespace lull::bm3d {

/// Device memory and launch shapes for planes of one size, which share their groups.
struct PlaneSet {
  Margins margins;
  ReferenceGrid hard_grid, wiener_grid;
  MatchPlan hard_plan, wiener_plan;
  std::vector<int> planes;  // the frame's, that are filtered; of all, `first` .. `last`
  int first = 0, last = 0;
  std::array<cuda::DeviceBuffer<float>, max_planes> noisy, basic, result;  // by place in the frame
};

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
  struct Guides {
    const float* hard;
    float sigma;  // of the noise in `hard`
    const float* wiener;
  };

  void plan_set(PlaneSet& set, int first, int last);
  bool is_filtered(int plane) const;
  void filter_set(PlaneSet& set, const Guides& guides);
  void run_phase(PlaneSet& set, Phase phase, const float* guide, Blur blur, float guide_sigma);

  Params params_;
  FrameFormat format_;
  std::array<float, max_planes> sigma_{};  // in the space in which planes are filtered
  cuda::Stream stream_;
  cuda::Event done_;
  std::optional<Frame> noisy_, clean_;  // in flight; `noisy_` is kept until its upload is over

  std::array<cuda::DeviceBuffer<std::byte>, max_planes> raw_;
  RawPlanes raw_planes_;
  std::vector<std::unique_ptr<PlaneSet>> sets_;
  cuda::DeviceBuffer<float> chroma_guide_, chroma_guide_final_;
  // Shared by the sets, which run one after the other; sized for the greater one.
  cuda::DeviceBuffer<std::uint8_t> guide_samples_;
  cuda::DeviceBuffer<std::int32_t> half_norms_;
  std::array<cuda::DeviceBuffer<unsigned long long>, max_planes> numerators_;
  std::array<cuda::DeviceBuffer<std::uint32_t>, max_planes> denominators_;
  cuda::DeviceBuffer<std::uint32_t> displacements_;
  cuda::DeviceBuffer<std::uint8_t> log2_counts_;
  std::unique_ptr<DftFilter> hard_dft_, wiener_dft_;
};

}  // namespace lull::bm3d
