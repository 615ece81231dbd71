#pragma once
// Reads from an OpenEXR file the properties that FFmpeg does not report.

#include <string>
#include <vector>

namespace lull::io {

struct ExrHead {
  bool half = false;               // every channel has samples of 16 bits
  std::vector<std::string> other;  // channels that are not R, G, B, A or Y
  bool parts = false;              // the file has several parts
};

/// Reads the header of an OpenEXR file. If the header is damaged, the result contains only the
/// properties that precede the damage. If the file has another format, the result is empty.
ExrHead read_exr_head(const std::string& path);

}  // namespace lull::io
