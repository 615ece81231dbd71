#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/round_up.h"
#include "cuda/handles.h"
#include "cuda/pinned_memory.h"

namespace lull::cuda {
namespace {

// Large blocks of memory are parts of slabs. CUDA locks all pages of a slab in one call, because
// locking page by page would take longer than filtering the frames.
constexpr std::size_t huge_page = std::size_t{2} << 20, page = 4096;
constexpr std::size_t slab_size = 8 * huge_page, large = huge_page / 2;

std::atomic<int> locking_device = 0;

/// Calls `work` in the context of the GPU that locks pages. Returns the CUDA status of `work`, or
/// cudaErrorUnknown if the GPU is not usable. Without this context, the CUDA runtime would create a
/// context on the current device of the thread, by default GPU 0.
template <class Work>
cudaError_t with_context(Work work) noexcept {
  try {
    const DeviceScope scope(locking_device);
    const cudaError_t status = work();
    (void)cudaGetLastError();  // without this call, the next CUDA call would report the error again
    return status;
  } catch (...) {
    return cudaErrorUnknown;
  }
}

/// Owns memory pages, huge pages where possible.
class Pages {
 public:
  /// data() is null if the system does not provide the pages.
  explicit Pages(std::size_t bytes) : size_(round_up(bytes, huge_page)) {
    void* const given = mmap(nullptr, size_ + huge_page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (given == MAP_FAILED) return;
    const auto start = reinterpret_cast<std::uintptr_t>(given);
    const std::size_t before = round_up(start, huge_page) - start;
    data_ = static_cast<std::byte*>(given) + before;
    if (before > 0) (void)munmap(given, before);
    (void)munmap(data_ + size_, huge_page - before);
    (void)madvise(data_, size_, MADV_HUGEPAGE);
  }
  Pages(Pages&& other) noexcept : size_(other.size_), data_(std::exchange(other.data_, nullptr)) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages() {
    if (data_ != nullptr) (void)munmap(data_, size_);
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Writes to each page, so that the system allocates the page before CUDA locks it. This
  /// allocation takes most of the time of page locking.
  void touch() const {
    if (data_ == nullptr) return;
    for (std::size_t at = 0; at < size_; at += page)
      *const_cast<volatile std::byte*>(data_ + at) = std::byte{};
  }

 private:
  std::size_t size_;
  std::byte* data_ = nullptr;
};

/// Background threads that prepare the pages of further slabs in advance.
class PagePrefetcher {
 public:
  Pages take(std::size_t bytes) {
    const auto found = std::ranges::find(next_, bytes, &Next::bytes);
    Pages pages = found != next_.end() ? found->pages.get() : Pages(bytes);
    if (found != next_.end()) next_.erase(found);
    if (bytes > greatest) return pages;
    while (std::ranges::count(next_, bytes, &Next::bytes) < of_a_size && prepare(bytes)) continue;
    while (std::ssize(next_) > in_all) next_.pop_front();
    return pages;
  }

 private:
  // Maximum numbers of slabs that the threads prepare in advance: `of_a_size` slabs of each size,
  // and `in_all` slabs in total. `of_a_size` is 2, because two GPUs use slabs faster than one core
  // prepares slabs.
  static constexpr std::ptrdiff_t of_a_size = 2, in_all = 4;
  // Maximum size in bytes of a slab that the threads prepare in advance. Programs rarely request a
  // second slab of a larger size.
  static constexpr std::size_t greatest = 4 * slab_size;
  struct Next {
    std::size_t bytes;
    std::future<Pages> pages;
  };

  bool prepare(std::size_t bytes) {
    try {
      next_.push_back({bytes, std::async(std::launch::async, [bytes] {
                         Pages pages(bytes);
                         pages.touch();
                         return pages;
                       })});
      return true;
    } catch (const std::system_error&) {  // the system cannot start a thread
      return false;
    }
  }

  std::deque<Next> next_;
};

/// A slab of page-locked memory, divided into blocks of one size, and locked in one call.
class Slab {
 public:
  static std::size_t bytes_for(std::size_t block) {
    return std::max<std::size_t>(slab_size / block, 1) * block;
  }
  /// Returns null if the system or CUDA cannot provide the memory.
  static std::unique_ptr<Slab> make(std::size_t block, Pages pages) {
    if (pages.data() == nullptr) return nullptr;
    auto slab = std::make_unique<Slab>(block, std::move(pages));
    return slab->lock() ? std::move(slab) : nullptr;
  }
  Slab(std::size_t block, Pages pages) : block_(block), pages_(std::move(pages)) {
    for (std::size_t end = pages_.size() / block * block; end > 0; end -= block)
      free_.push_back(pages_.data() + end - block);
  }
  ~Slab() {
    if (locked_) (void)with_context([&] { return cudaHostUnregister(pages_.data()); });
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  bool has(std::size_t block) const { return block == block_ && !free_.empty(); }
  bool holds(const void* at) const {
    const std::less<> before;
    return !before(at, pages_.data()) && before(at, pages_.data() + pages_.size());
  }
  bool is_unused() const { return free_.size() == pages_.size() / block_; }
  std::byte* take() {
    std::byte* const block = free_.back();
    free_.pop_back();
    return block;
  }
  void give_back(void* block) { free_.push_back(static_cast<std::byte*>(block)); }

 private:
  bool lock() {
    locked_ = with_context([&] {
                return cudaHostRegister(pages_.data(), pages_.size(), cudaHostRegisterPortable);
              }) == cudaSuccess;
    return locked_;
  }

  std::size_t block_;
  Pages pages_;
  bool locked_ = false;
  std::vector<std::byte*> free_;  // has reserved capacity, so that give_back() cannot throw
};

class PinnedMemory final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t /*alignment: pages*/) override {
    if (bytes >= large)
      if (void* const block = take_from_slabs(round_up(bytes, page))) return block;
    void* data = nullptr;
    const cudaError_t status =
        with_context([&] { return cudaHostAlloc(&data, bytes, cudaHostAllocPortable); });
    if (status == cudaSuccess) return data;
    if (status == cudaErrorMemoryAllocation) throw std::bad_alloc();
    return allocate_pageable(bytes);
  }

  void* take_from_slabs(std::size_t block) {
    const std::lock_guard lock(mutex_);
    for (const auto& slab : slabs_)
      if (slab->has(block)) return slab->take();
    auto slab = Slab::make(block, ahead_.take(Slab::bytes_for(block)));
    if (!slab) return nullptr;
    return slabs_.emplace_back(std::move(slab))->take();
  }

  // Allocates pageable memory after a failure of the GPU, so that the job can continue on the CPU
  // or report the error.
  void* allocate_pageable(std::size_t bytes) {
    void* data = ::operator new(bytes, alignment);
    try {
      const std::lock_guard lock(mutex_);
      pageable_.insert(data);
    } catch (...) {
      ::operator delete(data, alignment);
      throw;
    }
    return data;
  }

  void do_deallocate(void* data, std::size_t, std::size_t) override {
    if (give_back(data)) return;
    if (forget_pageable(data))
      ::operator delete(data, alignment);
    else
      (void)with_context([&] { return cudaFreeHost(data); });
  }

  /// Releases a block, and also its slab if the slab then has no used block. Returns false if the
  /// block does not belong to a slab.
  bool give_back(void* data) {
    const std::lock_guard lock(mutex_);
    const auto slab = std::ranges::find_if(slabs_, [=](const auto& s) { return s->holds(data); });
    if (slab == slabs_.end()) return false;
    (*slab)->give_back(data);
    if ((*slab)->is_unused()) slabs_.erase(slab);
    return true;
  }

  bool forget_pageable(void* data) {
    const std::lock_guard lock(mutex_);
    return pageable_.erase(data) > 0;
  }

  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  static constexpr std::align_val_t alignment{4096};
  std::mutex mutex_;
  PagePrefetcher ahead_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::unordered_set<void*> pageable_;
};

}  // namespace

std::pmr::memory_resource* pinned_memory() {
  // The program never destroys the memory resource, because frames may outlive static objects.
  static PinnedMemory* const memory = new PinnedMemory;
  return memory;
}

void lock_pages_with(int device) noexcept { locking_device = device; }

}  // namespace lull::cuda
