#pragma once
// Which value of float samples is white.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // what a user should know of it, one line; may be empty
};

/// For pictures like `first`, whose format is one of planar floats; its first `planes` components
/// count. `requested`: what the user says; 0: it is 1, with highlights too, so that what lies below
/// is filtered as finely as can be; but where more than half of the samples are greater, the power
/// of two that all but a twentieth lie below.
/// @throws InvalidArgument  `requested` is no number from 2^-64 to 2^64
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
