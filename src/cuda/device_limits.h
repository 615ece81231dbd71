#pragma once
// What a device has for kernels, as plain data: how they cut their work to it is decided by
// functions of this alone, which need no device (match_plan.h, filter_plan.h of bm3d).

#include <algorithm>
#include <cstddef>

namespace lull::cuda {

struct DeviceLimits {
  int multiprocessors = 0;
  // Of a multiprocessor:
  int warps = 0;  // that it holds at a time
  std::size_t shared_memory = 0;
  // Of a block:
  std::size_t block_shared_memory = 0;  // most that it may ask for
  std::size_t reserved = 0;             // what the system takes on top

  /// Blocks that a multiprocessor holds as far as warps and shared memory allow.
  constexpr int blocks(int threads, std::size_t bytes) const {
    const auto by_memory =
        static_cast<int>(shared_memory / std::max<std::size_t>(1, bytes + reserved));
    return bytes > block_shared_memory ? 0 : std::min(warps / (threads / 32), by_memory);
  }

  /// Dynamic shared memory of a block, beside a little that the kernel itself declares.
  constexpr std::size_t dynamic_limit() const { return block_shared_memory - 1024; }
  /// The same where a multiprocessor shall hold `count` blocks; each costs 1 KB on top.
  constexpr std::size_t dynamic_limit(int count) const {
    return std::min(dynamic_limit(), shared_memory / count - 1024);
  }
};

}  // namespace lull::cuda
