#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Chooses the white level for pictures like `first`, whose format must have planar floats, from
/// the first `planes` components. The result is `requested` if it is not 0. Otherwise, the result
/// is 1, even if there are highlights, so that samples below 1 are filtered as precisely as
/// possible. If more than half of the samples exceed 1, it is the smallest power of two that at
/// most 5 % of the samples exceed.
/// @throws InvalidArgument  `requested` is outside 2^-64..2^64, or NaN
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
