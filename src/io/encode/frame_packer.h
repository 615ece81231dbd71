#pragma once
// Converts frames to pictures in an encoder's pixel format.

#include <optional>
#include <vector>

#include "core/denoiser.h"
#include "core/frame_pool.h"
#include "io/encode/converter.h"
#include "io/encode/encoder_choice.h"
#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// A pool of pictures of one format. The pool reuses a picture after the encoder has released it.
class PicturePool {
 public:
  PicturePool(AVPixelFormat format, int width, int height)
      : format_(format), width_(width), height_(height) {}
  /// Returns a picture with uninitialised samples. The pool owns the picture. A caller that passes
  /// the picture on must pass a clone (av_frame_clone()).
  AVFrame& writable();

 private:
  AVPixelFormat format_;
  int width_, height_;
  std::vector<FramePtr> pictures_;
};

/// Packs frames into pictures of the encoder's pixel format, and rounds each sample at most once.
/// If frames and pictures differ in format, FFmpeg converts the samples to 16 bits, and the packer
/// then rounds or dithers the samples.
class FramePacker {
 public:
  /// @param source  pixel format of the source
  /// @param traits  traits of `source`
  /// @param frames  format of the frames for `pack()`
  FramePacker(AVPixelFormat source, const PixelTraits& traits, const FrameFormat& frames,
              const EncoderChoice& choice, Dither dither);

  /// Returns whether `pack()` copies the samples without a conversion.
  bool is_direct() const { return !converts_; }
  /// Packs a frame into the picture `out`, with the colour space and the range of `encoder`.
  void pack(const Frame& frame, const AVCodecContext& encoder, AVFrame& out);

 private:
  /// Rounds pictures that FFmpeg has converted to 16 bits to the encoder's bit depth.
  class Rounding {
   public:
    /// `format` describes the 16-bit pictures before rounding. `samples` describes the samples
    /// after rounding.
    Rounding(AVPixelFormat picture, const FrameFormat& format, bool has_alpha,
             const ResultSamples& samples);
    AVFrame& writable() { return pictures_.writable(); }
    void round(const AVFrame& precise, AVFrame& out);

   private:
    PicturePool pictures_;
    bool has_alpha_;
    FramePool precise_, results_, precise_alpha_, alpha_;
  };

  /// Returns the alpha channel of a frame, converted to the bit depth of the frame; null if the
  /// frame has no alpha channel.
  const Frame* alpha_of(const Frame& frame);
  void open_converter(const AVFrame& plain, const AVCodecContext& encoder, AVFrame& out);
  float converted_white(const AVFrame& plain) const;

  AVPixelFormat source_;
  FrameFormat format_;  // format of the frames
  bool converts_;
  Dither dither_;
  std::optional<PicturePool> unconverted_;
  std::optional<Rounding> rounding_;
  std::optional<Converter> converter_;
  std::optional<FramePool> alpha_pool_;
  Frame alpha_;  // alpha of the last frame, if its samples were converted
};

}  // namespace lull::io
