#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Chooses the white level for planar float pictures in the format of `first`. A `requested` level
/// other than 0 is the result. If at most half of the samples in the first `planes` components
/// exceed 1, the result is 1. If not, the result is the smallest power of two that at most 5 % of
/// the samples exceed.
/// @throws InvalidArgument  `requested` is outside 2^-64..2^64, or NaN
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
