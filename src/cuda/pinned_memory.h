#pragma once
// Page-locked host memory, for copies that overlap with kernels.

#include <memory_resource>

namespace lull::cuda {

/// Returns a memory resource of page-locked memory for all devices and threads, valid until the
/// process ends. Because page locking is slow, callers should reuse buffers. Allocation throws
/// std::bad_alloc. After a device failure, new memory is pageable.
[[nodiscard]] std::pmr::memory_resource* pinned_memory();

/// Sets the GPU whose CUDA context locks memory pages; the default is GPU 0. Page locking creates a
/// context on this GPU. Therefore, each session passes its own GPU, so that no unused GPU gets a
/// context.
void lock_pages_with(int device) noexcept;

}  // namespace lull::cuda
