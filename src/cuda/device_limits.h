#pragma once
// Limits of a device as plain data. Tests can therefore plan kernels (match/cuda/match_plan.h,
// bm3d/cuda/filter/filter_plan.h) without a device.

#include <algorithm>
#include <cstddef>

namespace lull::cuda {

struct DeviceLimits {
  int multiprocessors = 0;
  // Limits of a multiprocessor.
  int warps = 0;  // maximum number of resident warps
  std::size_t shared_memory = 0;
  // Limits of a thread block.
  std::size_t block_shared_memory = 0;  // bytes that a block may request
  std::size_t reserved = 0;             // bytes per block that the system reserves in addition

  /// Returns the number of resident thread blocks of a multiprocessor, limited by warps and shared
  /// memory.
  constexpr int blocks(int threads, std::size_t bytes) const {
    const auto by_memory =
        static_cast<int>(shared_memory / std::max<std::size_t>(1, bytes + reserved));
    return bytes > block_shared_memory ? 0 : std::min(warps / (threads / 32), by_memory);
  }

  /// Returns the maximum dynamic shared memory of a thread block. The function reserves 1 KB for
  /// static shared memory.
  constexpr std::size_t dynamic_limit() const { return block_shared_memory - 1024; }
  /// Returns the maximum dynamic shared memory of a thread block if `count` blocks are resident in
  /// a multiprocessor. The function reserves 1 KB per block for static shared memory and for the
  /// shared memory that CUDA itself uses.
  constexpr std::size_t dynamic_limit(int count) const {
    return std::min(dynamic_limit(), shared_memory / count - 1024);
  }
};

}  // namespace lull::cuda
