#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Returns the white level of float pictures: `requested`, if it is not 0. Otherwise, the samples
/// of the components 0 to `planes` - 1 of `first` decide. If at most half of them exceed 1, the
/// level is 1. If not, it is the smallest power of two that at most 5 % of them exceed.
/// @throws InvalidArgument  `requested` is NaN or outside 2^-64..2^64
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
