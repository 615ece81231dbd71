#pragma once
// What travels with a frame from source to sink and no filter reads.

#include <cstddef>
#include <vector>

#include "core/frame.h"
#include "io/ffmpeg.h"

namespace lull {

struct Passenger {
  io::FramePtr properties;  // no samples: side data, metadata, colour, aspect ratio, interlacing
  Frame alpha;              // one grey plane of the frame's depth; without pixels if there is none
  std::vector<std::byte> stored;  // of a stack: the slice's samples as the file has them
};

}  // namespace lull
