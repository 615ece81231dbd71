#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Chooses the white level for pictures like `first`, from its first `planes` components. The
/// format must have planar floats. If `requested` is not 0, the result is `requested`. Otherwise,
/// the result is 1 or, if more than half of the samples exceed 1, the smallest power of two that at
/// most 5 % of the samples exceed. Highlights above 1 do not raise the result, because samples
/// below 1 must be filtered as precisely as possible.
/// @throws InvalidArgument  `requested` is outside 2^-64..2^64, or NaN
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
