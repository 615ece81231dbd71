#include <cuda_runtime_api.h>

#include <mutex>
#include <new>
#include <unordered_set>

#include "cuda/pinned_memory.h"

namespace lull::cuda {
namespace {

class PinnedMemory final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t /*alignment: pages*/) override {
    void* data = nullptr;
    const cudaError_t status = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
    if (status == cudaSuccess) return data;
    (void)cudaGetLastError();
    if (status == cudaErrorMemoryAllocation) throw std::bad_alloc();
    return allocate_ordinary(bytes);
  }

  // A GPU has failed, and with it CUDA for the whole process: frames go on to the CPU, or the job
  // is about to end for that reason and no other.
  void* allocate_ordinary(std::size_t bytes) {
    void* data = ::operator new(bytes, alignment);
    try {
      const std::lock_guard lock(mutex_);
      ordinary_.insert(data);
    } catch (...) {
      ::operator delete(data, alignment);
      throw;
    }
    return data;
  }

  void do_deallocate(void* data, std::size_t, std::size_t) override {
    if (forget_ordinary(data))
      ::operator delete(data, alignment);
    else
      (void)cudaFreeHost(data);
  }

  bool forget_ordinary(void* data) {
    const std::lock_guard lock(mutex_);
    return ordinary_.erase(data) > 0;
  }

  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  static constexpr std::align_val_t alignment{4096};
  std::mutex mutex_;
  std::unordered_set<void*> ordinary_;
};

}  // namespace

std::pmr::memory_resource* pinned_memory() {
  static PinnedMemory memory;
  return &memory;
}

}  // namespace lull::cuda
