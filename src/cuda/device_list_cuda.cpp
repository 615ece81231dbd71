#include <cuda_runtime_api.h>

#include <numeric>
#include <system_error>
#include <utility>

#include "cuda/device_list.h"
#include "cuda/driver_version.h"

namespace lull::cuda {
namespace {

std::string reason_of(cudaError_t status) {
  if (status != cudaErrorInsufficientDriver) return cudaGetErrorString(status);
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);  // 0 if there is no driver
  (void)cudaRuntimeGetVersion(&runtime);
  return driver_problem(driver, runtime);
}

void warm_up(int device) {
  if (cudaSetDevice(device) == cudaSuccess) (void)cudaFree(nullptr);
  (void)cudaGetLastError();  // clears the last CUDA error of this thread
}

void warm_up_all(std::vector<int> devices) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return (void)cudaGetLastError();
  if (devices.empty()) {
    devices.resize(static_cast<std::size_t>(count));
    std::iota(devices.begin(), devices.end(), 0);
  }
  std::vector<std::jthread> threads;
  try {
    for (const int device : devices) threads.emplace_back(warm_up, device);
  } catch (const std::system_error&) {  // the system cannot start a thread
  }
}

std::jthread start_warm_up(std::vector<int> devices) {
  try {
    return std::jthread(warm_up_all, std::move(devices));
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace

DeviceList list_devices() {
  DeviceList list;
#ifdef LULL_ONLY_CHECKS_CUDA
  list.reason =
      "this build only checks that CUDA code compiles; configure it with "
      "-DLULL_CUDA_ARCHITECTURES=native";
  return list;
#endif
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    // The CUDA runtime stores the error of cudaGetDeviceCount(). Unless cudaGetLastError() clears
    // the error, the next CUDA call reports it again.
    (void)cudaGetLastError();
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

std::string toolkit_version() { return version_text(CUDART_VERSION); }

std::string driver_version() {
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);
  return driver == 0 ? std::string() : version_text(driver);
}

ContextWarmup::ContextWarmup(std::vector<int> devices) : all_(start_warm_up(std::move(devices))) {}

}  // namespace lull::cuda
