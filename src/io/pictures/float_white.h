#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Returns the white level of float pictures: `requested`, if it is not 0. Otherwise, the function
/// examines the samples of the components 0 to `planes` - 1 of `first`. If at most half of the
/// samples exceed 1, the white level is 1. If more samples exceed 1, the white level is the
/// smallest power of two such that at most 5 % of the samples are greater.
/// @throws InvalidArgument  `requested` is NaN or outside 2^-64..2^64
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
