#pragma once
// The kernels of the CUDA backend for one grey frame, launched one by one. The other benchmark
// files do not use bm3d/cuda/filter/kernels.h directly.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bm3d/cuda/filter/covariance_cuda.h"
#include "bm3d/cuda/filter/kernels.h"
#include "cuda/handles.h"

namespace lull::bench {

/// A stage of the processing of a frame; the stages run in order.
struct KernelStage {
  std::string name;              // "first/match"
  std::int64_t references = 0;   // number of reference patches; 0: not applicable
  std::function<void()> launch;  // queues the stage on the stream
};

class KernelStages {
 public:
  /// Uploads `noisy`, a grey frame, and plans the kernels for `device`. The DFT is not supported,
  /// because kernels.h does not contain it.
  /// @throws InvalidArgument  the parameters or the frame are not supported
  KernelStages(const bm3d::Params& params, const Frame& noisy,
               const cuda::DeviceLimits& device = cuda::device_limits());

  const std::vector<KernelStage>& stages() const { return stages_; }
  cudaStream_t stream() const { return stream_.get(); }
  /// Queues the stages 0 to `end` - 1.
  void launch_until(std::size_t end) const {
    for (std::size_t i = 0; i < end; ++i) stages_[i].launch();
  }

 private:
  /// The parameters, the inputs and the outputs of a phase.
  struct PhaseSetup {
    bm3d::PhaseParams params;
    MatchPlan plan;
    MixedPlane guide;
    const float* basic = nullptr;  // second phase only
    float* estimate = nullptr;
    bm3d::Strength strength;
    const bm3d::Covariances* covariances = nullptr;
    std::shared_ptr<const DistanceBias> bias;
  };

  cuda::DeviceLimits device_;
  void add_load();
  void add_phase(const std::string& name, const PhaseSetup& setup, float sigma);
  void add_store(const float* estimate);

  RawPlanes raw_;
  Margins margins_;
  cuda::Stream stream_;
  cuda::DeviceBuffer<std::byte> samples_;
  cuda::DeviceBuffer<float> noisy_, basic_, result_;
  cuda::DeviceBuffer<std::uint8_t> guide_;
  cuda::DeviceBuffer<std::int32_t> half_norms_;
  cuda::DeviceBuffer<unsigned long long> numerator_;
  cuda::DeviceBuffer<std::uint32_t> denominator_, displacements_;
  cuda::DeviceBuffer<std::uint8_t> log2_counts_;
  bm3d::Covariances hard_covariances_, wiener_covariances_;
  std::vector<KernelStage> stages_;
};

}  // namespace lull::bench
