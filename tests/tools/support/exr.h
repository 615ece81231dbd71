#pragma once
// Writes and reads OpenEXR files of several parts and sample types with OpenEXR's library.

#include <OpenEXR/ImfCompression.h>
#include <OpenEXR/ImfPixelType.h>

#include <map>
#include <string>
#include <vector>

namespace lull::tools {

/// Samples row by row. Values of HALF and UINT channels must be representable.
struct ExrChannel {
  Imf::PixelType type = Imf::FLOAT;
  std::vector<float> samples;
  bool operator==(const ExrChannel&) const = default;
};
using ExrChannels = std::map<std::string, ExrChannel>;

struct ExrPart {
  std::string name, view;
  ExrChannels channels{};
  Imf::Compression compression = Imf::ZIP_COMPRESSION;
  bool tiled = false;
  int x = 0, y = 0, width = 0, height = 0;          // data window
  int shown_width = 0, shown_height = 0;            // display window from 0, 0; 0: the data window
  std::map<std::string, std::string> attributes{};  // texts
  std::vector<std::string> views{};                 // the attribute multiView
};

void write_exr_parts(const std::string& path, const std::vector<ExrPart>& parts);
std::vector<ExrPart> read_exr_parts(const std::string& path);

}  // namespace lull::tools
