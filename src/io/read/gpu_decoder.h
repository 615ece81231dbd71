#pragma once
// Decoding on a GPU: NVDEC, by way of FFmpeg's CUDA devices. Frames stay in the GPU's memory.

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

inline bool is_on_gpu(const AVFrame& picture) { return picture.format == AV_PIX_FMT_CUDA; }

/// FFmpeg's decoder of this codec that a GPU can do the work for; null if there is none.
const AVCodec* find_gpu_decoder(AVCodecID codec);

class GpuDecoder {
 public:
  /// @throws DeviceUnavailable  FFmpeg cannot use the GPU
  explicit GpuDecoder(int device);

  /// Makes `decoder`, which is not open yet, decode on the GPU if it can. FFmpeg itself goes on
  /// with the CPU if it cannot: frames show which.
  void attach(AVCodecContext& decoder) const;

  /// A copy within the GPU's memory, with everything that belongs to the picture. A decoder has 32
  /// surfaces at most and stops without a free one; copies can be held in any number.
  /// @throws DeviceUnavailable
  FramePtr copy(const AVFrame& surface);

  /// Whether the GPU still gives memory. What it fails to decode is the stream's fault if it does.
  bool works() const;
  int device() const { return index_; }

  /// Why a picture, which would have format `nominal` on the CPU, cannot stay on the GPU; empty if
  /// it can.
  std::string objection(const AVFrame& picture, AVPixelFormat nominal) const;

  /// A picture without objection as samples of `format`; keeps the picture.
  std::shared_ptr<const DevicePicture> samples(FramePtr picture, const FrameFormat& format) const;

 private:
  using BufferPtr = std::unique_ptr<AVBufferRef, Releaser<av_buffer_unref>>;

  void make_pool(const AVHWFramesContext& like);

  int index_;
  BufferPtr device_, pool_;
};

}  // namespace lull::io
