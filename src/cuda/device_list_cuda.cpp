#include <cuda_runtime_api.h>

#include "cuda/device_list.h"

namespace lull::cuda {

DeviceList list_devices() {
  DeviceList list;
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    (void)cudaGetLastError();  // a missing driver must not fail the next call
    list.reason = cudaGetErrorString(status);
    return list;
  }
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    list.devices.push_back({index, properties.name, properties.major, properties.minor,
                            properties.multiProcessorCount, properties.totalGlobalMem});
  }
  if (list.devices.empty()) list.reason = "no CUDA device is visible";
  return list;
}

}  // namespace lull::cuda
