#pragma once
// Describes a frame format and an amount of memory, for messages.

#include <cstdint>
#include <cstdio>
#include <string>

#include "core/frame.h"

namespace lull {

/// Returns a description of a frame format, for example "1920x1080 YUV 4:2:0 10 bits".
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

/// Formats a number of bytes, for example as "4.2 GB" or "610 MB". Units are decimal (1 GB = 10^9
/// bytes).
inline std::string describe_bytes(std::int64_t bytes) {
  const bool large = bytes >= 1'000'000'000;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", bytes < 10'000'000'000 ? 1 : 0,
                static_cast<double>(bytes) / (large ? 1e9 : 1e6), large ? "GB" : "MB");
  return text;
}

}  // namespace lull
