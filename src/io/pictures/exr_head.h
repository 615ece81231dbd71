#pragma once
// Reads OpenEXR properties that FFmpeg does not report.

#include <string>
#include <vector>

namespace lull::io {

struct ExrHead {
  bool half = false;               // every channel has samples of 16 bits
  std::vector<std::string> other;  // channels that are not R, G, B, A or Y
  bool parts = false;              // the file has several parts
};

/// Reads the header of an OpenEXR file. In a damaged file, stops at the first damage. The result is
/// empty for other formats.
ExrHead read_exr_head(const std::string& path);

}  // namespace lull::io
