#pragma once
// Another pixel format, where the user asks for one.

#include <memory>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Converts pictures of one size with swscale's most exact settings, with the matrix and range that
/// the pictures are tagged with.
class Converter {
 public:
  /// `from` and `to` give format, size, colour space and range of all pictures to come.
  Converter(const AVFrame& from, const AVFrame& to);
  void convert(const AVFrame& from, AVFrame& to) const;

 private:
  struct Free {
    void operator()(SwsContext* context) const noexcept { sws_freeContext(context); }
  };
  std::unique_ptr<SwsContext, Free> context_;
};

/// The matrix that RGB of this height becomes YCbCr with: BT.709 from 720 rows, else BT.601.
AVColorSpace default_colour_space(int height);

}  // namespace lull::io
