#pragma once
// Page-locked host memory, for copies that overlap with kernels.

#include <memory_resource>

namespace lull::cuda {

/// Returns a memory resource of page-locked memory for all devices and threads, valid until the
/// process ends. Allocation throws std::bad_alloc. Page locking is slow, so callers should reuse
/// buffers. After a device failure, new memory is pageable.
[[nodiscard]] std::pmr::memory_resource* pinned_memory();

/// Locks pages in the context of GPU `device` from now on; at first, of GPU 0. A session calls this
/// function with its GPU, so that page locking creates no context on a GPU that no session uses.
void lock_pages_with(int device) noexcept;

}  // namespace lull::cuda
