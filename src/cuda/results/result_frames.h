#pragma once
// Frames for the results of GPU sessions, in host or GPU memory.

#include <memory_resource>

#include "core/frame_pool.h"

namespace lull::cuda {

/// Returns a memory resource that allocates memory of GPU `device`. The resource exists until the
/// process ends. If the GPU has too little memory, an allocation throws OutOfDeviceMemory.
[[nodiscard]] std::pmr::memory_resource* device_memory(int device);

/// Usual number of results that wait for a sink. Sessions allocate page-locked memory for this
/// number of results in advance.
inline constexpr int expected_queued_results = 6;

class ResultFrames {
 public:
  /// If `on_device` is true, results are in the memory of the current device. If not, results are
  /// in host memory.
  ResultFrames(const FrameFormat& format, bool on_device);
  void reserve(int frames) { pool_.reserve(frames); }
  /// Returns a frame whose `planes` the GPU can write. The planes are in host memory or in GPU
  /// memory. In GPU memory, Frame::on_device is not null.
  [[nodiscard]] Frame acquire();

 private:
  int device_ = -1;  // -1: host memory
  FramePool pool_;
};

/// Returns `frame` with Frame::on_device set. The buffer of `frame` must come from a pool that uses
/// device_memory(device).
[[nodiscard]] Frame on_device(Frame frame, int device);
/// Prepares a frame for the caller of a session. If the samples are in GPU memory, the function
/// clears Frame::planes and Frame::pixels, and only Frame::on_device refers to the samples. Before
/// the call, the session must queue all work that writes the frame.
[[nodiscard]] Frame publish_frame(Frame frame);

// synchronize() and copy_bytes() return when their work is complete. In builds without CUDA, all
// functions of this file throw DeviceUnavailable.
// @throws DeviceUnavailable, DeviceFailure

/// Waits for all queued work of a device.
void synchronize(int device);
/// Copies bytes between device memory and host memory, in either direction.
void copy_bytes(void* to, const void* from, std::size_t bytes, int device);

}  // namespace lull::cuda
