#pragma once
// Samples that a decoder left in the memory of a GPU, on their way into a slot.

#include "core/frame.h"
#include "cuda/device_planes.h"
#include "cuda/handles.h"

namespace lull {

/// Belongs to one stream of the device that is current when it is made.
class DevicePictureReader {
 public:
  /// Queues on `stream`: wait until `picture` is written, then its planes to those of `to`. A
  /// picture in the memory of another GPU is copied to this one first. It must stay until that is
  /// done.
  void read(const DevicePicture& picture, const FrameFormat& format, const RawPlanes& to,
            cudaStream_t stream);

 private:
  DevicePicture fetch(const DevicePicture& picture, int device, cudaStream_t stream);

  cuda::Event written_;  // of device `writer_`
  int writer_ = -1;
  cuda::DeviceBuffer<std::byte> copy_;  // of another GPU's picture
};

}  // namespace lull
