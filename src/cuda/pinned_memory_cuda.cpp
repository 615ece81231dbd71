#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/round_up.h"
#include "cuda/pinned_memory.h"

namespace lull::cuda {
namespace {

// Pages that are locked one by one cost more than filtering what they hold. So large blocks are cut
// from slabs of a few, which the system gives in huge pages where it can.
constexpr std::size_t huge_page = std::size_t{2} << 20, page = 4096;
constexpr std::size_t slab_size = 8 * huge_page, large = huge_page / 2;

/// Blocks of one size in memory that was locked as a whole.
class Slab {
 public:
  /// Null where the system or CUDA does not give it.
  static std::unique_ptr<Slab> make(std::size_t block) {
    auto slab = std::make_unique<Slab>(block);
    return slab->data_ != nullptr ? std::move(slab) : nullptr;
  }
  explicit Slab(std::size_t block)
      : block_(block),
        size_(round_up(std::max<std::size_t>(slab_size / block, 1) * block, huge_page)) {
    free_.reserve(size_ / block);  // so that giving back cannot throw
    void* const given = mmap(nullptr, size_ + huge_page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (given == MAP_FAILED) return;
    const auto start = reinterpret_cast<std::uintptr_t>(given);
    const std::size_t before = round_up(start, huge_page) - start;
    auto* const data = static_cast<std::byte*>(given) + before;
    if (before > 0) (void)munmap(given, before);
    (void)munmap(data + size_, huge_page - before);
    (void)madvise(data, size_, MADV_HUGEPAGE);
    if (cudaHostRegister(data, size_, cudaHostRegisterPortable) != cudaSuccess) {
      (void)cudaGetLastError();
      (void)munmap(data, size_);
      return;
    }
    data_ = data;
    for (std::size_t end = size_ / block * block; end > 0; end -= block)
      free_.push_back(data + end - block);
  }
  ~Slab() {
    if (data_ == nullptr) return;
    (void)cudaHostUnregister(data_);
    (void)munmap(data_, size_);
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  bool has(std::size_t block) const { return block == block_ && !free_.empty(); }
  bool holds(const void* at) const {
    const std::less<> before;
    return !before(at, data_) && before(at, data_ + size_);
  }
  bool is_unused() const { return free_.size() == size_ / block_; }
  std::byte* take() {
    std::byte* const block = free_.back();
    free_.pop_back();
    return block;
  }
  void give_back(void* block) { free_.push_back(static_cast<std::byte*>(block)); }

 private:
  std::size_t block_, size_;
  std::byte* data_ = nullptr;
  std::vector<std::byte*> free_;
};

class PinnedMemory final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t /*alignment: pages*/) override {
    if (bytes >= large)
      if (void* const block = take_from_slabs(round_up(bytes, page))) return block;
    void* data = nullptr;
    const cudaError_t status = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
    if (status == cudaSuccess) return data;
    (void)cudaGetLastError();
    if (status == cudaErrorMemoryAllocation) throw std::bad_alloc();
    return allocate_ordinary(bytes);
  }

  // (To make the next slab beforehand in another thread was slower: CUDA keeps everybody waiting
  // meanwhile.)
  void* take_from_slabs(std::size_t block) {
    const std::lock_guard lock(mutex_);
    for (const auto& slab : slabs_)
      if (slab->has(block)) return slab->take();
    auto slab = Slab::make(block);
    if (!slab) return nullptr;
    return slabs_.emplace_back(std::move(slab))->take();
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
    if (give_back(data)) return;
    if (forget_ordinary(data))
      ::operator delete(data, alignment);
    else
      (void)cudaFreeHost(data);
  }

  /// Whether it is of a slab. That goes back to the system when nobody has a block of it.
  bool give_back(void* data) {
    const std::lock_guard lock(mutex_);
    const auto slab = std::ranges::find_if(slabs_, [=](const auto& s) { return s->holds(data); });
    if (slab == slabs_.end()) return false;
    (*slab)->give_back(data);
    if ((*slab)->is_unused()) slabs_.erase(slab);
    return true;
  }

  bool forget_ordinary(void* data) {
    const std::lock_guard lock(mutex_);
    return ordinary_.erase(data) > 0;
  }

  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  static constexpr std::align_val_t alignment{4096};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::unordered_set<void*> ordinary_;
};

}  // namespace

std::pmr::memory_resource* pinned_memory() {
  static PinnedMemory* const memory = new PinnedMemory;  // frames may outlive what ends with main()
  return memory;
}

}  // namespace lull::cuda
