#pragma once
// Decodes with NVDEC through FFmpeg's CUDA devices. Frames remain in GPU memory.

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

inline bool is_on_gpu(const AVFrame& picture) { return picture.format == AV_PIX_FMT_CUDA; }

/// Returns FFmpeg's GPU decoder for `codec`; null if there is none.
const AVCodec* find_gpu_decoder(AVCodecID codec);

class GpuDecoder {
 public:
  /// @throws DeviceUnavailable  FFmpeg cannot use the GPU
  explicit GpuDecoder(int device);

  /// Configures `decoder` for the GPU, before the caller opens it. FFmpeg falls back to the CPU for
  /// unsupported streams; is_on_gpu() returns whether FFmpeg has decoded a frame on the GPU.
  void attach(AVCodecContext& decoder) const;

  /// Copies a decoded surface and its properties to other GPU memory, so that the decoder can reuse
  /// the surface. A decoder has at most 32 surfaces, and stops if no surface is free.
  /// @throws DeviceUnavailable
  FramePtr copy(const AVFrame& surface);

  /// Returns whether the GPU can still allocate memory. If it can, the cause of a decoding error is
  /// the stream.
  bool works() const;
  int device() const { return index_; }

  /// Returns the reason why a picture cannot remain on the GPU; empty if it can. `nominal` is the
  /// pixel format in which the CPU decoder would return the picture.
  std::string objection(const AVFrame& picture, AVPixelFormat nominal) const;

  /// Returns the samples of `picture` in the format `format`, without a copy. objection() must have
  /// accepted `picture`. The result owns the picture.
  std::shared_ptr<const DevicePicture> samples(FramePtr picture, const FrameFormat& format) const;

 private:
  using BufferPtr = std::unique_ptr<AVBufferRef, Releaser<av_buffer_unref>>;

  void make_pool(const AVHWFramesContext& like);

  int index_;
  BufferPtr device_, pool_;
};

}  // namespace lull::io
