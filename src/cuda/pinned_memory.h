#pragma once
// Page-locked host memory, for copies that overlap with kernels.

#include <memory_resource>

namespace lull::cuda {

/// Returns a memory resource of page-locked memory for all devices, valid until the process ends.
/// Allocation throws std::bad_alloc. Page locking is slow, so callers should reuse buffers. After a
/// device failure, new memory is pageable.
[[nodiscard]] std::pmr::memory_resource* pinned_memory();

}  // namespace lull::cuda
