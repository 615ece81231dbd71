#include "io/pictures/unsupported_format.h"

#include <string_view>

namespace lull::io {
namespace {

struct Format {
  std::size_t at;  // position of the signature in the file
  std::string_view signature;
  const char *name, *suggestion;
};

constexpr const char* to_exr = "convert it to OpenEXR, for example with oiiotool or ImageMagick";

constexpr Format formats[] = {
    {0, "#?RADIANCE", "a Radiance HDR picture", to_exr},
    {0, "#?RGBE", "a Radiance HDR picture", to_exr},
    {0, "SIMPLE  =", "a FITS file", "convert it to TIFF with floats, for example with Siril"}};

}  // namespace

std::string unsupported_format(std::span<const std::uint8_t> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const Format& format : formats)
    if (text.size() >= format.at && text.substr(format.at).starts_with(format.signature))
      return std::string(format.name) + " (lull does not read this format); " + format.suggestion;
  return {};
}

}  // namespace lull::io
