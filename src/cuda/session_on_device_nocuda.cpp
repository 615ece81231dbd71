#include "core/error.h"
#include "cuda/session_on_device.h"

namespace lull::cuda {

std::unique_ptr<Denoiser> open_on_device(int, const std::function<std::unique_ptr<Denoiser>()>&) {
  throw DeviceUnavailable("no cuda backend (lull was built without CUDA); choose the device cpu");
}

}  // namespace lull::cuda
