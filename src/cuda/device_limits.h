#pragma once
// Limits of a device as plain data. The functions that divide a kernel's work take only these
// limits, so that they run without a device (match_plan.h, filter_plan.h of bm3d).

#include <algorithm>
#include <cstddef>

namespace lull::cuda {

struct DeviceLimits {
  int multiprocessors = 0;
  // Limits of a multiprocessor.
  int warps = 0;  // resident warps
  std::size_t shared_memory = 0;
  // Limits of a block.
  std::size_t block_shared_memory = 0;  // bytes that a block may request
  std::size_t reserved = 0;             // bytes that the system reserves in addition

  /// Returns how many blocks a multiprocessor can hold, limited by warps and shared memory.
  constexpr int blocks(int threads, std::size_t bytes) const {
    const auto by_memory =
        static_cast<int>(shared_memory / std::max<std::size_t>(1, bytes + reserved));
    return bytes > block_shared_memory ? 0 : std::min(warps / (threads / 32), by_memory);
  }

  /// Returns the maximum dynamic shared memory of a block. It leaves 1 KB for the kernel's static
  /// shared memory.
  constexpr std::size_t dynamic_limit() const { return block_shared_memory - 1024; }
  /// Returns the maximum dynamic shared memory of a block if a multiprocessor must hold `count`
  /// blocks. Each block needs 1 KB in addition.
  constexpr std::size_t dynamic_limit(int count) const {
    return std::min(dynamic_limit(), shared_memory / count - 1024);
  }
};

}  // namespace lull::cuda
