#pragma once
// Memory for the results of sessions on a GPU: in host memory, or in GPU memory if results stay
// there.

#include <memory_resource>

#include "core/frame_pool.h"

namespace lull::cuda {

/// Returns a memory resource of GPU memory, for buffers that are reused. It lives as long as the
/// process. Allocation throws OutOfDeviceMemory.
[[nodiscard]] std::pmr::memory_resource* device_memory(int device);

/// Number of results that usually wait for a sink. Page-locked memory is allocated for them in
/// advance.
inline constexpr int expected_queued_results = 6;

class ResultFrames {
 public:
  /// `on_device`: results are in the memory of the current device.
  ResultFrames(const FrameFormat& format, bool on_device);
  void reserve(int frames) { pool_.reserve(frames); }
  /// Returns a frame whose `planes` the GPU can write to, in host or GPU memory. Frame::on_device
  /// is set if they are in GPU memory.
  [[nodiscard]] Frame acquire();

 private:
  int device_ = -1;  // -1: host memory
  FramePool pool_;
};

/// Returns `frame`, whose buffer is from a pool in device_memory(device), with Frame::on_device
/// set.
[[nodiscard]] Frame on_device(Frame frame, int device);
/// Returns the frame in the form that users of the session receive. All work that writes the frame
/// must be queued before. A frame on a device then has no host `planes`.
[[nodiscard]] Frame publish_frame(Frame frame);

// Each of the following functions returns when its copies are complete. Builds without CUDA provide
// these functions and device_memory(), which then throw.
// @throws DeviceUnavailable, DeviceFailure

/// Waits for all work on a device.
void synchronize(int device);
/// Copies between device memory and host memory, in either direction.
void copy_bytes(void* to, const void* from, std::size_t bytes, int device);

}  // namespace lull::cuda
