#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Chooses the white level for pictures like `first`, whose format must have planar floats. The
/// function uses only the first `planes` components. If `requested` is not 0, the result is
/// `requested`, the choice of the user. Otherwise, the result is 1 in most cases, even if there are
/// highlights, so that samples below 1 are filtered as precisely as possible. If more than half of
/// the samples exceed 1, the result is the smallest power of two for which at most 5 % of the
/// samples are larger.
/// @throws InvalidArgument  `requested` is outside 2^-64..2^64, or NaN
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
