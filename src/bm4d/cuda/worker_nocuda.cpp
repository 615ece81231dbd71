#include "bm4d/cuda/worker.h"
#include "core/error.h"

namespace lull::bm4d {

std::unique_ptr<VolumeWorker> make_cuda_worker(const Params&, const FrameFormat&, bool,
                                               const ResultSamples&) {
  throw DeviceUnavailable("this build has no CUDA backend; use the CPU, or build lull with CUDA");
}

}  // namespace lull::bm4d
