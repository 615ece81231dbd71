#include "core/error.h"
#include "nlm/cuda/workers.h"

namespace lull::nlm {
namespace {

[[noreturn]] void refuse() {
  throw DeviceUnavailable(
      "this build has no CUDA backend for nlm; use the CPU, or build lull with CUDA");
}

}  // namespace

std::unique_ptr<FrameWorker> make_cuda_frame_worker(const Params&, const FrameFormat&, bool,
                                                    const ResultSamples&) {
  refuse();
}
std::unique_ptr<SlicesWorker> make_cuda_slices_worker(const Params&, const FrameFormat&, bool,
                                                      const ResultSamples&) {
  refuse();
}

}  // namespace lull::nlm
