#pragma once
// Page-locked host memory. Copies between page-locked memory and a GPU can run concurrently with
// kernels.

#include <memory_resource>

namespace lull::cuda {

/// Returns a memory resource of page-locked memory for all devices. The resource exists until the
/// process ends. Allocation throws std::bad_alloc. CUDA needs much time to lock pages, so callers
/// should reuse buffers. After a device failure, new memory is pageable.
[[nodiscard]] std::pmr::memory_resource* pinned_memory();

}  // namespace lull::cuda
