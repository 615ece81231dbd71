#pragma once
// Converts CUDA runtime status codes to exceptions.

#include <cuda_runtime_api.h>

#include <source_location>

namespace lull::cuda {

/// If `status` is not cudaSuccess, clears the last error of the CUDA runtime, and throws an
/// exception with the file and line of the caller.
/// @throws DeviceFailure  the device, or work that ran on it, has failed
/// @throws DeviceUnavailable  the device is not usable (OutOfDeviceMemory: its memory is too small)
/// @throws InternalError  all other codes
void check(cudaError_t status, std::source_location where = std::source_location::current());

}  // namespace lull::cuda
