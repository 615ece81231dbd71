#pragma once
// Where sessions on a GPU write their results: to the host's memory, or to the GPU's own, to stay
// there.

#include <memory_resource>

#include "core/frame_pool.h"

namespace lull::cuda {

/// Memory of a GPU, for buffers that are used again and again. Lives as long as the process.
/// Allocation throws OutOfDeviceMemory.
[[nodiscard]] std::pmr::memory_resource* device_memory(int device);

/// So many results usually wait for a sink. Page-locked memory for them is allocated in advance.
inline constexpr int results_that_wait = 6;

class ResultFrames {
 public:
  /// `on_device`: of the device that is current.
  ResultFrames(const FrameFormat& format, bool on_device);
  void reserve(int frames) { pool_.reserve(frames); }
  /// Has `planes` for the GPU to write to, wherever they are, and says whether they are on it.
  [[nodiscard]] Frame acquire();

 private:
  int device_ = -1;  // -1: in the host's memory
  FramePool pool_;
};

/// `frame`, of a pool in device_memory(device), as one on that device, too.
[[nodiscard]] Frame on_device(Frame frame, int device);
/// A frame as users see it, once all that writes it is queued: the planes of one that stays on its
/// device are none of the host's.
[[nodiscard]] Frame handed_out(Frame frame);

// Copies that are done when they return. Builds without CUDA have these and device_memory() too;
// there they throw. @throws DeviceUnavailable, DeviceFailure

/// Waits for all work on a device.
void synchronize(int device);
/// Between a device's memory and the host's, either way.
void copy_bytes(void* to, const void* from, std::size_t bytes, int device);

}  // namespace lull::cuda
