#pragma once
// Decodes on a GPU with NVDEC, through FFmpeg's CUDA devices. The frames remain in the GPU's
// memory.

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

inline bool is_on_gpu(const AVFrame& picture) { return picture.format == AV_PIX_FMT_CUDA; }

/// Returns FFmpeg's decoder of this codec that can use a GPU; null if there is none.
const AVCodec* find_gpu_decoder(AVCodecID codec);

class GpuDecoder {
 public:
  /// @throws DeviceUnavailable  FFmpeg cannot use the GPU
  explicit GpuDecoder(int device);

  /// Configures `decoder`, which is not open yet, to decode on the GPU if the GPU supports the
  /// stream. If it does not, FFmpeg decodes on the CPU. The memory type of the decoded frames shows
  /// where FFmpeg decodes.
  void attach(AVCodecContext& decoder) const;

  /// Returns a copy of a decoded surface within the GPU's memory, with all properties of the
  /// picture. A decoder has at most 32 surfaces, and stops if no surface is free. The number of
  /// copies is not limited.
  /// @throws DeviceUnavailable
  FramePtr copy(const AVFrame& surface);

  /// Returns whether the GPU can still allocate memory. If it can, a decoding error is caused by
  /// the stream, not by the GPU.
  bool works() const;
  int device() const { return index_; }

  /// Returns why a picture cannot remain on the GPU; empty if it can. `nominal` is the format that
  /// the picture would have on the CPU.
  std::string objection(const AVFrame& picture, AVPixelFormat nominal) const;

  /// Returns the samples of `picture` as samples of `format`. objection() must be empty for the
  /// picture. The result owns the picture.
  std::shared_ptr<const DevicePicture> samples(FramePtr picture, const FrameFormat& format) const;

 private:
  using BufferPtr = std::unique_ptr<AVBufferRef, Releaser<av_buffer_unref>>;

  void make_pool(const AVHWFramesContext& like);

  int index_;
  BufferPtr device_, pool_;
};

}  // namespace lull::io
