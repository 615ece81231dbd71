#pragma once
// The one place where a status of the CUDA runtime becomes an exception.

#include <cuda_runtime_api.h>

#include <source_location>

namespace lull::cuda {

/// Throws unless `status` is cudaSuccess: DeviceFailure where the device, or what ran on it, has
/// failed, DeviceUnavailable where the device or its memory is the reason, else InternalError; the
/// text names the place. Clears the runtime's last error first.
void check(cudaError_t status, std::source_location where = std::source_location::current());

}  // namespace lull::cuda
