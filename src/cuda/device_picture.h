#pragma once
// Copies pictures that a decoder has written to GPU memory.

#include "core/frame.h"
#include "cuda/device_planes.h"
#include "cuda/handles.h"

namespace lull {

/// Copies decoded pictures on one CUDA stream, on the device that is current in the constructor.
class DevicePictureReader {
 public:
  /// Queues a copy of the planes of `picture` to the planes `to`. The copy begins after the decoder
  /// has written `picture`. The picture may be on another GPU, and must remain valid until the copy
  /// is complete.
  void read(const DevicePicture& picture, const FrameFormat& format, const RawPlanes& to,
            cudaStream_t stream);

 private:
  DevicePicture fetch(const DevicePicture& picture, int device, cudaStream_t stream);

  cuda::Event written_;  // an event of device `writer_`
  int writer_ = -1;
  cuda::DeviceBuffer<std::byte> copy_;  // copy of a picture from the memory of another GPU
};

}  // namespace lull
