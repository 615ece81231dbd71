#pragma once
// The pixel format that loses least, where an encoder does not hold the samples as they are.

#include <string>

#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// What a picture loses in another format, and how far that one is from it otherwise.
struct FormatLoss {
  bool colour = false;    // YCbCr or RGB becomes grey
  bool alpha = false;     // is dropped
  int bits = 0;           // of each sample
  bool chroma = false;    // Cb and Cr get fewer rows or columns
  bool rounding = false;  // YCbCr becomes RGB or the other way: values are rounded
  int excess = 0;         // what the format has more than there is

  /// Whether something is gone for good.
  bool any() const { return colour || alpha || bits > 0 || chroma; }
  /// The less, the nearer. Every kind of loss weighs more than all of those behind it.
  int weight() const;
};

/// Of integer samples with the traits `from` in a format with the traits `to`.
FormatLoss loss_of(const PixelTraits& from, const PixelTraits& to);

/// The format of `list` (ends with AV_PIX_FMT_NONE) that is nearest to `from`, never grey for
/// colour; AV_PIX_FMT_NONE if there is none, and for floats, which no other format holds without a
/// decision on what is white. `full_range` is how the samples are meant.
AVPixelFormat nearest_format(const AVPixelFormat* list, const PixelTraits& from, bool full_range);

/// "alpha and 2 of 12 bits"; empty if nothing is lost.
std::string describe(const FormatLoss& loss, const PixelTraits& from);

}  // namespace lull::io
