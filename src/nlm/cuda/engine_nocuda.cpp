#include "core/error.h"
#include "nlm/cuda/engine.h"

namespace lull::nlm {
namespace {

[[noreturn]] void refuse() {
  throw DeviceUnavailable(
      "this build has no CUDA backend for nlm; use the CPU, or build lull with CUDA");
}

}  // namespace

std::unique_ptr<FrameEngine> make_cuda_frame_engine(const FramePlan&) { refuse(); }
std::unique_ptr<VolumeEngine> make_cuda_volume_engine(const VolumePlan&) { refuse(); }

}  // namespace lull::nlm
