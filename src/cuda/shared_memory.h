#pragma once
// What kernels may take of a device.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "cuda/check.h"

namespace lull::cuda {

/// Dynamic shared memory that a block of the current device may have at most, beside a little that
/// the kernel itself declares.
[[nodiscard]] inline std::size_t dynamic_shared_limit() {
  constexpr int declared = 1024;
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return static_cast<std::size_t>(bytes - declared);
}

/// The same where a multiprocessor shall hold `blocks` at a time; each costs 1 KB on top.
[[nodiscard]] inline std::size_t shared_limit_for(int blocks) {
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  return std::min(dynamic_shared_limit(), static_cast<std::size_t>(bytes / blocks - 1024));
}

[[nodiscard]] inline int multiprocessors() {
  int device = 0, count = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

/// Always the limit itself: the setting is the kernel's, and sessions with other needs launch the
/// same kernel from other threads.
template <class Kernel>
void allow_shared_memory(Kernel* kernel) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(dynamic_shared_limit())));
}

}  // namespace lull::cuda
