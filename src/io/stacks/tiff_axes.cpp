#include "io/stacks/tiff_axes.h"

#include <charconv>
#include <string>

namespace lull::io {
namespace {

/// Returns the number that follows `key` in the text; 1 if the text does not contain `key`.
std::int64_t number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == text.npos) return 1;
  std::int64_t number = 0;
  std::from_chars(text.data() + at + key.size(), text.data() + text.size(), number);
  return number;
}

struct Sizes {
  std::int64_t channels = 1, slices = 1, times = 1;
  std::string_view order = "XYCZT";  // fastest axis first
};

Sizes imagej_sizes(std::string_view text) {
  return {.channels = number_after(text, "\nchannels="),
          .slices = number_after(text, "\nslices="),
          .times = number_after(text, "\nframes=")};
}

/// Reads the sizes from an OME description (Open Microscopy Environment, OME-TIFF specification):
/// attributes of the first element Pixels.
Sizes ome_sizes(std::string_view text) {
  const std::size_t at = text.find("<Pixels ");
  if (at == text.npos) return {};
  text = text.substr(at, text.find('>', at) - at);
  Sizes sizes{.channels = number_after(text, " SizeC=\""),
              .slices = number_after(text, " SizeZ=\""),
              .times = number_after(text, " SizeT=\"")};
  constexpr std::string_view key = " DimensionOrder=\"";
  const std::size_t order = text.find(key);
  sizes.order = order == text.npos ? "" : text.substr(order + key.size(), 5);
  return sizes;
}

}  // namespace

TiffAxes parse_axes(std::string_view description, std::int64_t pages) {
  const TiffAxes one_volume{.slices = pages};
  const bool is_imagej = description.starts_with("ImageJ=");
  if (!is_imagej && description.find("<OME") == description.npos) return one_volume;
  const Sizes sizes = is_imagej ? imagej_sizes(description) : ome_sizes(description);
  const auto is_valid = [&](std::int64_t size) { return size >= 1 && size <= pages; };
  if (!is_valid(sizes.channels) || !is_valid(sizes.slices) || !is_valid(sizes.times) ||
      sizes.channels * sizes.slices > pages || sizes.channels * sizes.slices * sizes.times != pages)
    return one_volume;
  const std::size_t c = sizes.order.find('C'), z = sizes.order.find('Z'), t = sizes.order.find('T');
  if (c == sizes.order.npos || z == sizes.order.npos || t == sizes.order.npos) return one_volume;
  const bool has_volumes = sizes.slices > 1;
  if (has_volumes && sizes.times > 1 && t < z) return one_volume;
  return {.channels = sizes.channels,
          .channel_step = (z < c ? sizes.slices : 1) * (t < c ? sizes.times : 1),
          .slices = has_volumes ? sizes.slices : sizes.times};
}

}  // namespace lull::io
