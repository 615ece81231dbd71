#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Returns the white level for planar float pictures like `first`. If `requested` is not 0, it is
/// the level. Otherwise, components 0 to `planes` - 1 determine the level. If at most half of their
/// samples exceed 1, it is 1. If not, it is the smallest power of two that at most 5 % exceed.
/// @throws InvalidArgument  `requested` is NaN or outside 2^-64..2^64
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
