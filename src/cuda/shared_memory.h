#pragma once
// Reads the limits of the current device, and lets kernels use the maximum dynamic shared memory.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "cuda/check.h"
#include "cuda/device_limits.h"

namespace lull::cuda {

/// Returns an attribute of the current device.
[[nodiscard]] inline int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

/// Returns the limits of the current device.
[[nodiscard]] inline DeviceLimits device_limits() {
  const auto bytes = [](cudaDeviceAttr which) {
    return static_cast<std::size_t>(attribute(which));
  };
  return {.multiprocessors = attribute(cudaDevAttrMultiProcessorCount),
          .warps = attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / 32,
          .shared_memory = bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
          .block_shared_memory = bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .reserved = bytes(cudaDevAttrReservedSharedMemoryPerBlock)};
}

/// Allows the kernel to use the maximum dynamic shared memory. The function always sets the
/// maximum, because the limit applies to the whole process: other threads may launch the same
/// kernel with more memory than this thread.
template <class Kernel>
void allow_shared_memory(Kernel* kernel) {
  const DeviceLimits limits{.block_shared_memory = static_cast<std::size_t>(
                                attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))};
  cudaFuncAttributes declared{};
  check(cudaFuncGetAttributes(&declared, kernel));
  const std::size_t limit =
      std::min(limits.dynamic_limit(), limits.block_shared_memory - declared.sharedSizeBytes);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(limit)));
}

}  // namespace lull::cuda
