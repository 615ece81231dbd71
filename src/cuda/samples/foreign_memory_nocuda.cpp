#include "core/error.h"
#include "cuda/samples/foreign_memory.h"

namespace lull::cuda {
namespace {

[[noreturn]] void refuse_foreign_memory() {
  throw DeviceUnavailable("no cuda backend (lull was built without CUDA); choose the device cpu");
}

}  // namespace

void wait_for_stream(void*, int) { refuse_foreign_memory(); }
std::shared_ptr<std::byte> import_dma_buf(int, std::size_t, int) { refuse_foreign_memory(); }

}  // namespace lull::cuda
