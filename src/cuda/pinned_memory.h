#pragma once
// Page-locked host memory, for copies that overlap with kernels.

#include <memory_resource>

namespace lull::cuda {

/// Returns a memory resource of page-locked memory for all devices and threads, valid until the
/// process ends. Allocation throws std::bad_alloc. Page locking is slow, so callers should reuse
/// buffers. After a device failure, new memory is pageable.
[[nodiscard]] std::pmr::memory_resource* pinned_memory();

/// Sets the GPU in whose CUDA context memory pages are locked. Before the first call, this is GPU
/// 0. A session passes its own GPU, so that page locking creates no context on an unused GPU.
void lock_pages_with(int device) noexcept;

}  // namespace lull::cuda
