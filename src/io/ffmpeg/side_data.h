#pragma once
// What travels with a frame from source to sink and no filter reads.

#include <cstddef>
#include <string>
#include <vector>

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull {

struct SideData {
  io::FramePtr properties;  // no samples: side data, metadata, colour, aspect ratio, interlacing
  std::int64_t number = 0;  // of the picture: in its file's name, else counted from 0
  std::string match;        // what the '*' of a pattern stands for in its file's name
  Frame alpha;              // one grey plane of the frame's depth; without pixels if there is none
  std::vector<std::byte> stored;  // of a stack: the slice's samples as the file has them
};

}  // namespace lull
