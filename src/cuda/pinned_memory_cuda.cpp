#include <cuda_runtime_api.h>

#include <new>

#include "cuda/pinned_memory.h"

namespace lull::cuda {
namespace {

class PinnedMemory final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t /*alignment: pages*/) override {
    void* data = nullptr;
    if (cudaHostAlloc(&data, bytes, cudaHostAllocPortable) != cudaSuccess) {
      (void)cudaGetLastError();
      throw std::bad_alloc();
    }
    return data;
  }
  void do_deallocate(void* data, std::size_t, std::size_t) override { (void)cudaFreeHost(data); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

std::pmr::memory_resource* pinned_memory() {
  static PinnedMemory memory;
  return &memory;
}

}  // namespace lull::cuda
