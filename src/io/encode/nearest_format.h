#pragma once
// Chooses the pixel format with the smallest loss, for encoders that cannot store the samples
// unchanged.

#include <string>

#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// The information that a picture loses if it is converted to another pixel format, and other
/// differences between the two formats.
struct FormatLoss {
  bool colour = false;    // YCbCr or RGB becomes grey
  bool alpha = false;     // the alpha channel is dropped
  int bits = 0;           // number of bits that each sample loses
  bool chroma = false;    // Cb and Cr get fewer rows or columns
  bool rounding = false;  // YCbCr becomes RGB or vice versa: values are rounded
  int excess = 0;         // capacity of the format that the picture's content does not need

  /// Returns whether information is lost, apart from rounding.
  bool any() const { return colour || alpha || bits > 0 || chroma; }
  /// Returns the weight of the loss. A smaller weight means a nearer format. In the order of the
  /// members of this struct, each kind of loss has more weight than all later kinds together.
  int weight() const;
};

/// Returns the loss if integer samples with the traits `from` are converted to a format with the
/// traits `to`.
FormatLoss loss_of(const PixelTraits& from, const PixelTraits& to);

/// Returns the format in `list` (which ends with AV_PIX_FMT_NONE) that is nearest to `from`. The
/// result is never a grey format for colour samples. Returns AV_PIX_FMT_NONE if there is no such
/// format, and for floats, because their conversion requires a choice of the white level.
/// `full_range` states the range of the samples.
AVPixelFormat nearest_format(const AVPixelFormat* list, const PixelTraits& from, bool full_range);

/// Returns a text that describes the loss, such as "alpha and 2 of 12 bits"; empty if nothing is
/// lost.
std::string describe(const FormatLoss& loss, const PixelTraits& from);

}  // namespace lull::io
