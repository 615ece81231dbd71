#include "bm3d/cuda/session.h"
#include "core/error.h"

namespace lull::bm3d {
namespace {

[[noreturn]] void refuse() {
  throw DeviceUnavailable("no cuda backend (lull was built without CUDA); choose the device cpu");
}

}  // namespace

std::unique_ptr<Denoiser> open_cuda(const Params&, const FrameFormat&, int, int, bool,
                                    const ResultSamples&) {
  refuse();
}
std::pmr::memory_resource* cuda_frame_memory(int) { refuse(); }

}  // namespace lull::bm3d
