#pragma once
// Decodes on a GPU with NVDEC, through FFmpeg's CUDA devices. The frames remain in the memory of
// the GPU.

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

inline bool is_on_gpu(const AVFrame& picture) { return picture.format == AV_PIX_FMT_CUDA; }

/// Returns FFmpeg's decoder for this codec that can use a GPU; null if FFmpeg has no such decoder.
const AVCodec* find_gpu_decoder(AVCodecID codec);

class GpuDecoder {
 public:
  /// @throws DeviceUnavailable  FFmpeg cannot use the GPU
  explicit GpuDecoder(int device);

  /// Configures `decoder`, which must not be open yet, for decoding on the GPU. If the GPU does not
  /// support the stream, FFmpeg decodes on the CPU. is_on_gpu() shows for a decoded frame where
  /// FFmpeg decoded it.
  void attach(AVCodecContext& decoder) const;

  /// Copies a decoded surface, with all properties of the picture, to other memory of the GPU. The
  /// copy is necessary because a decoder has at most 32 surfaces and stops if no surface is free.
  /// The number of copies is not limited.
  /// @throws DeviceUnavailable
  FramePtr copy(const AVFrame& surface);

  /// Returns whether the GPU can still allocate memory. If the result is true, the stream and not
  /// the GPU is the cause of a decoding error.
  bool works() const;
  int device() const { return index_; }

  /// Returns the reason if a picture cannot remain on the GPU; empty if there is no reason.
  /// `nominal` is the pixel format that the CPU decoder would return.
  std::string objection(const AVFrame& picture, AVPixelFormat nominal) const;

  /// Returns the samples of `picture` as samples of `format`. The caller must check that
  /// objection() returns an empty text for the picture. The result owns the picture.
  std::shared_ptr<const DevicePicture> samples(FramePtr picture, const FrameFormat& format) const;

 private:
  using BufferPtr = std::unique_ptr<AVBufferRef, Releaser<av_buffer_unref>>;

  void make_pool(const AVHWFramesContext& like);

  int index_;
  BufferPtr device_, pool_;
};

}  // namespace lull::io
