#pragma once
// Copies between vectors and device memory, for tests of kernels.

#include <vector>

#include "cuda/handles.h"

namespace lull::test_support {

template <class T>
cuda::DeviceBuffer<T> on_device(const std::vector<T>& values) {
  cuda::DeviceBuffer<T> buffer(values.size());
  cuda::check(cudaMemcpy(buffer.get(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
  return buffer;
}

template <class T>
std::vector<T> on_host(const cuda::DeviceBuffer<T>& buffer) {
  std::vector<T> values(buffer.size());
  cuda::check(cudaMemcpy(values.data(), buffer.get(), buffer.bytes(), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace lull::test_support
