#pragma once
// A frame's samples on a GPU as they are stored, between the host and the planes of floats that are
// filtered.

#include <array>

#include "bm3d/device_picture.h"
#include "bm3d/kernels.h"
#include "core/frame.h"
#include "cuda/handles.h"

namespace lull::bm3d {

class RawFrame {
 public:
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  RawFrame(const FrameFormat& format, cudaStream_t stream);

  /// Queues: the samples of `frame`, which must stay until that is done, from the host or a GPU.
  void bring(const Frame& frame, cudaStream_t stream);
  /// Queues: plane `i` to that of `frame`, in the host's memory.
  void take(int i, const Frame& frame, cudaStream_t stream) const;
  /// Queues: all planes to floats, RGB in the opponent space.
  void to_planes(const std::array<const Margins*, max_planes>& margins,
                 const std::array<float*, max_planes>& planes, cudaStream_t stream) const;
  /// The way back, of plane `i`; of all three for RGB.
  void from_plane(int i, const Margins& margins, const float* plane, cudaStream_t stream);
  void from_opponents(const Margins& margins, const Planes& planes, cudaStream_t stream);

  const RawPlanes& planes() const noexcept { return planes_; }

 private:
  FrameFormat format_;
  std::array<cuda::DeviceBuffer<std::byte>, max_planes> memory_;
  RawPlanes planes_;
  DevicePictureReader device_pictures_;
};

}  // namespace lull::bm3d
