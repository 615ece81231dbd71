#pragma once
// Converts pictures to another pixel format.

#include <memory>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Converts pictures of one size with swscale, with the settings of highest precision. The pictures
/// must state their colour matrix and sample range.
class Converter {
 public:
  /// `from` and `to` are examples of the pictures before and after the conversion. All other
  /// pictures must have the same pixel format, size, colour space and sample range.
  Converter(const AVFrame& from, const AVFrame& to);
  void convert(const AVFrame& from, AVFrame& to) const;

 private:
  struct Free {
    void operator()(SwsContext* context) const noexcept { sws_freeContext(context); }
  };
  std::unique_ptr<SwsContext, Free> context_;
};

/// Returns the colour matrix that players assume for pictures of this height: BT.709 from 720 rows
/// on, or else BT.601.
AVColorSpace default_colour_space(int height);

}  // namespace lull::io
