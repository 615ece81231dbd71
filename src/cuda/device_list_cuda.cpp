#include <cuda_runtime_api.h>

#include "cuda/device_list.h"
#include "cuda/driver_version.h"

namespace lull::cuda {
namespace {

std::string reason_of(cudaError_t status) {
  if (status != cudaErrorInsufficientDriver) return cudaGetErrorString(status);
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);  // 0 where there is no driver
  (void)cudaRuntimeGetVersion(&runtime);
  return driver_problem(driver, runtime);
}

}  // namespace

DeviceList list_devices() {
  DeviceList list;
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    (void)cudaGetLastError();  // a missing driver must not fail the next call
    list.reason = reason_of(status);
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
