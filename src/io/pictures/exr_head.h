#pragma once
// What FFmpeg does not tell of an OpenEXR file.

#include <string>
#include <vector>

namespace lull::io {

struct ExrHead {
  bool half = false;               // every channel has samples of 16 bits
  std::vector<std::string> other;  // channels that are not R, G, B, A or Y
  bool parts = false;              // several pictures in one file
};

/// Of a file that need not be one: then, and where it is damaged, as much as can be read.
ExrHead read_exr_head(const std::string& path);

}  // namespace lull::io
