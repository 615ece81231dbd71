#include "core/error.h"
#include "cuda/results/result_frames.h"

namespace lull::cuda {
namespace {

[[noreturn]] void refuse_memory() {
  throw DeviceUnavailable("no cuda backend (lull was built without CUDA); choose the device cpu");
}

}  // namespace

std::pmr::memory_resource* device_memory(int) { refuse_memory(); }
void synchronize(int) { refuse_memory(); }
void copy_bytes(void*, const void*, std::size_t, int) { refuse_memory(); }

}  // namespace lull::cuda
