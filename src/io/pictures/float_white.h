#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Returns the white level for planar float pictures in the format of `first`: `requested` if not
/// 0; or else 1 if at most half of the samples exceed 1; or else the smallest power of two that at
/// most 5 % of the samples exceed. Considers components 0 to `planes` - 1 of `first`.
/// @throws InvalidArgument  `requested` is outside 2^-64..2^64, or NaN
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
