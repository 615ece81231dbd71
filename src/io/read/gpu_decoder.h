#pragma once
// Decodes on a GPU with NVDEC, through FFmpeg's CUDA devices. Frames remain in GPU memory.

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

inline bool is_on_gpu(const AVFrame& picture) { return picture.format == AV_PIX_FMT_CUDA; }

/// Returns a decoder of FFmpeg that decodes the codec `id` on a GPU; null if there is none.
const AVCodec* find_gpu_decoder(AVCodecID codec);

class GpuDecoder {
 public:
  /// @throws DeviceUnavailable  FFmpeg cannot use the GPU
  explicit GpuDecoder(int device);

  /// Configures `decoder` for decoding on the GPU. The caller must open `decoder` afterwards.
  /// FFmpeg decodes on the CPU if the GPU does not support the stream. is_on_gpu() returns whether
  /// FFmpeg has decoded a frame on the GPU.
  void attach(AVCodecContext& decoder) const;

  /// Copies a decoded surface, with all properties of the picture, to other memory of the GPU. A
  /// decoder has at most 32 surfaces, and stops if no surface is free.
  /// @throws DeviceUnavailable
  FramePtr copy(const AVFrame& surface);

  /// Returns whether the GPU can still allocate memory. If the result is true, the stream is the
  /// cause of a decoding error.
  bool works() const;
  int device() const { return index_; }

  /// Returns the reason why a picture cannot remain on the GPU; empty if it can remain there.
  /// `nominal` is the pixel format that the CPU decoder would return.
  std::string objection(const AVFrame& picture, AVPixelFormat nominal) const;

  /// Returns the samples of `picture` as samples of `format`, without a copy. objection() must have
  /// returned an empty text for `picture`. The result owns the picture.
  std::shared_ptr<const DevicePicture> samples(FramePtr picture, const FrameFormat& format) const;

 private:
  using BufferPtr = std::unique_ptr<AVBufferRef, Releaser<av_buffer_unref>>;

  void make_pool(const AVHWFramesContext& like);

  int index_;
  BufferPtr device_, pool_;
};

}  // namespace lull::io
