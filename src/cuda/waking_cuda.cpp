#include <cuda_runtime_api.h>

#include <numeric>
#include <utility>

#include "cuda/waking.h"

namespace lull::cuda {
namespace {

void wake(int device) {
  if (cudaSetDevice(device) == cudaSuccess) (void)cudaFree(nullptr);
  (void)cudaGetLastError();  // of this thread
}

void wake_all(std::vector<int> devices) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return (void)cudaGetLastError();
  if (devices.empty()) {
    devices.resize(static_cast<std::size_t>(count));
    std::iota(devices.begin(), devices.end(), 0);
  }
  std::vector<std::jthread> threads;
  for (const int device : devices) threads.emplace_back(wake, device);
}

}  // namespace

Waking::Waking(std::vector<int> devices) : all_(wake_all, std::move(devices)) {}

}  // namespace lull::cuda
