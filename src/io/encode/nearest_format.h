#pragma once
// Chooses the pixel format with the smallest loss. lull uses this format for encoders that cannot
// store the samples unchanged.

#include <string>

#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// The information that a picture loses in a conversion to another pixel format, and other
/// differences between the formats.
struct FormatLoss {
  bool colour = false;    // YCbCr or RGB becomes grey
  bool alpha = false;     // the alpha channel is dropped
  int bits = 0;           // number of bits that each sample loses
  bool chroma = false;    // Cb and Cr get fewer rows or columns
  bool rounding = false;  // YCbCr becomes RGB or vice versa: values are rounded
  int excess = 0;         // capacity of the format that the picture's content does not need

  /// Returns whether the picture loses any information except by rounding.
  bool any() const { return colour || alpha || bits > 0 || chroma; }
  /// Returns the weight of the loss. The format with the smallest weight is the nearest format. The
  /// members of this struct are in order of importance: each kind of loss has more weight than all
  /// later kinds together.
  int weight() const;
};

/// Returns the loss of a conversion of integer samples from a format with the traits `from` to a
/// format with the traits `to`.
FormatLoss loss_of(const PixelTraits& from, const PixelTraits& to);

/// Returns the format in `list` that is nearest to `from`. `list` ends with AV_PIX_FMT_NONE. The
/// result is never a grey format for colour samples. Returns AV_PIX_FMT_NONE if there is no
/// suitable format. The result is also AV_PIX_FMT_NONE for floats, because their conversion
/// requires a choice of the white level. `full_range` states the range of the samples.
AVPixelFormat nearest_format(const AVPixelFormat* list, const PixelTraits& from, bool full_range);

/// Returns a text that describes the loss, such as "alpha and 2 of 12 bits". The text is empty if
/// nothing is lost.
std::string describe(const FormatLoss& loss, const PixelTraits& from);

}  // namespace lull::io
