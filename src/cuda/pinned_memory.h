#pragma once
// Page-locked host memory: copies to and from a device run beside kernels only from there.

#include <memory_resource>

namespace lull::cuda {

/// Page-locked memory that every device can copy from and to. Lives as long as the process.
/// Allocation throws std::bad_alloc. Allocating locks pages, which is slow: reuse the buffers. Once
/// a device has failed, new memory is ordinary memory.
[[nodiscard]] std::pmr::memory_resource* pinned_memory();

}  // namespace lull::cuda
