#pragma once
// Chooses the white level of float samples.

#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct White {
  float value = 1;
  std::string note;  // one line for the user; may be empty
};

/// Chooses the white level for pictures like `first`. The picture's format must have planar floats;
/// only the first `planes` components are used. `requested` is the user's choice; if it is 0, the
/// function chooses. In most cases it chooses 1, so that samples below 1 are filtered as precisely
/// as possible, even if there are highlights. If more than half of the samples exceed 1, it chooses
/// the smallest power of two that is exceeded by at most 5 % of the samples.
/// @throws InvalidArgument  `requested` is outside 2^-64..2^64, or NaN
White choose_white(const AVFrame& first, int planes, double requested);

}  // namespace lull::io
