#pragma once
// Uploads frames to GPU memory, and downloads results.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/frame.h"
#include "cuda/handles.h"
#include "support/pictures.h"

namespace lull::test_support {

/// Returns a frame with the same samples in GPU memory, plane by plane.
inline Frame uploaded(const Frame& frame) {
  struct Planes {
    DevicePicture picture;
    std::array<cuda::DeviceBuffer<std::byte>, 3> memory;
  };
  auto there = std::make_shared<Planes>();
  for (int i = 0; i < frame.format.planes(); ++i) {
    const auto& plane = frame.planes[i];
    const std::ptrdiff_t stride = plane.width + 12;
    there->memory[i] = cuda::DeviceBuffer<std::byte>(stride * plane.height);
    cuda::check(cudaMemcpy2D(there->memory[i].get(), stride, plane.data, plane.stride, plane.width,
                             plane.height, cudaMemcpyHostToDevice));
    there->picture.planes[i] = {there->memory[i].get(), plane.width, plane.height, stride};
  }
  Frame result = frame;
  result.pixels.reset();
  result.planes = {};
  result.on_device = {there, &there->picture};
  return result;
}
inline std::vector<Frame> uploaded(const std::vector<Frame>& frames) {
  std::vector<Frame> there;
  for (const Frame& frame : frames) there.push_back(uploaded(frame));
  return there;
}

inline Frame downloaded(const Frame& frame) {
  EXPECT_NE(frame.on_device, nullptr);
  EXPECT_EQ(frame.planes[0].data, nullptr);
  Frame result = make_frame(frame.format);
  result.pts = frame.pts;
  for (int i = 0; i < frame.format.planes(); ++i) {
    const auto& from = frame.on_device->planes[i];
    cuda::check(cudaMemcpy2D(result.planes[i].data, result.planes[i].stride, from.data, from.stride,
                             from.width, from.height, cudaMemcpyDeviceToHost));
  }
  return result;
}

}  // namespace lull::test_support
