#pragma once
// Converts pictures to another pixel format.

#include <memory>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Converts pictures of one size with the most exact settings of FFmpeg's swscale. The pictures
/// must state their matrix and their sample range.
class Converter {
 public:
  /// Like `from` and `to`, all pictures before and after the conversion must have one pixel format,
  /// size, colour space and sample range.
  Converter(const AVFrame& from, const AVFrame& to);
  void convert(const AVFrame& from, AVFrame& to) const;

 private:
  struct Free {
    void operator()(SwsContext* context) const noexcept { sws_freeContext(context); }
  };
  std::unique_ptr<SwsContext, Free> context_;
};

/// Returns the matrix between RGB and YCbCr that players assume for pictures of this height: BT.709
/// from 720 rows on, and BT.601 below 720 rows.
AVColorSpace default_colour_space(int height);

}  // namespace lull::io
