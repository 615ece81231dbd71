#pragma once
// Choice of the pixel format that loses least, for encoders that cannot hold the samples unchanged.

#include <string>

#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// What a picture loses in another format, and how far this format is from the picture's in other
/// respects.
struct FormatLoss {
  bool colour = false;    // YCbCr or RGB becomes grey
  bool alpha = false;     // the alpha channel is dropped
  int bits = 0;           // lost bits of each sample
  bool chroma = false;    // Cb and Cr get fewer rows or columns
  bool rounding = false;  // YCbCr becomes RGB or vice versa: values are rounded
  int excess = 0;         // what the format can hold beyond the picture's content

  /// Returns whether information is lost, apart from rounding.
  bool any() const { return colour || alpha || bits > 0 || chroma; }
  /// Returns the weight of the loss; a smaller weight means a nearer format. Each kind of loss
  /// outweighs all kinds that follow it in this struct.
  int weight() const;
};

/// Returns the loss of integer samples with the traits `from` in a format with the traits `to`.
FormatLoss loss_of(const PixelTraits& from, const PixelTraits& to);

/// Returns the format in `list` (which ends with AV_PIX_FMT_NONE) that is nearest to `from`; never
/// grey for colour. AV_PIX_FMT_NONE if there is none, and for floats, whose conversion requires a
/// decision about the white level. `full_range` states the range of the samples.
AVPixelFormat nearest_format(const AVPixelFormat* list, const PixelTraits& from, bool full_range);

/// Returns a text such as "alpha and 2 of 12 bits"; empty if nothing is lost.
std::string describe(const FormatLoss& loss, const PixelTraits& from);

}  // namespace lull::io
