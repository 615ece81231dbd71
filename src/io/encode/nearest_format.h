#pragma once
// Chooses the pixel format of smallest loss, for encoders that cannot store the samples unchanged.

#include <string>

#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// The loss of a conversion to another pixel format.
struct FormatLoss {
  bool colour = false;    // YCbCr or RGB becomes grey
  bool alpha = false;     // the alpha channel is dropped
  int bits = 0;           // number of bits that each sample loses
  bool chroma = false;    // Cb and Cr get fewer rows or columns
  bool rounding = false;  // YCbCr becomes RGB or vice versa: values are rounded
  int excess = 0;         // capacity of the target format that the picture does not need

  /// Returns whether the conversion loses information other than by rounding.
  bool any() const { return colour || alpha || bits > 0 || chroma; }
  /// Returns the weight of the loss, which is smallest for the nearest format. Each member of
  /// FormatLoss weighs more than the sum of all later members.
  int weight() const;
};

/// Returns the loss of a conversion of integer samples between two pixel formats.
FormatLoss loss_of(const PixelTraits& from, const PixelTraits& to);

/// Returns the format in `list` that is nearest to `from`; AV_PIX_FMT_NONE if no format is
/// suitable. Float formats are never suitable. Grey formats are not suitable for colour samples.
/// `list` ends with AV_PIX_FMT_NONE. If `full_range` is true, the samples have the full range.
AVPixelFormat nearest_format(const AVPixelFormat* list, const PixelTraits& from, bool full_range);

/// Returns a description of the loss, such as "alpha and 2 of 12 bits"; empty if there is no loss.
std::string describe(const FormatLoss& loss, const PixelTraits& from);

}  // namespace lull::io
