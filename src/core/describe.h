#pragma once
// A frame's format in words, for messages.

#include <string>

#include "core/frame.h"

namespace lull {

/// "1920x1080 YUV 4:2:0 10 bits"
inline std::string describe(const FrameFormat& f) {
  std::string text = std::to_string(f.width) + "x" + std::to_string(f.height);
  if (f.layout == Layout::yuv) {
    const int x = 4 >> f.chroma_shift_x, y = f.chroma_shift_y == 0 ? x : 0;
    text += " YUV 4:" + std::to_string(x) + ":" + std::to_string(y);
  } else {
    text += f.layout == Layout::gray ? " grey" : " RGB";
  }
  return text + " " + std::to_string(f.bits) + " bits";
}

}  // namespace lull
