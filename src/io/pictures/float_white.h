#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Returns the white level for planar float pictures in the format of `first`. If `requested` is
/// not 0, the level is `requested`. Otherwise, the function examines the components 0 to `planes` -
/// 1 of `first`. If at most half of their samples exceed 1, the level is 1. Otherwise, the level is
/// the smallest power of two that at most 5 % of the samples exceed.
/// @throws InvalidArgument  `requested` is outside 2^-64..2^64, or NaN
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
