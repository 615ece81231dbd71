#include "tools/pages/pictures.h"

#include <algorithm>

#include "core/frame_pool.h"
#include "io/picture.h"

namespace lull::tools {
namespace {

constexpr int max_width = 512, max_height = 384;  // size of the displayed part in samples

std::uint8_t to_byte(int v) {
  return static_cast<std::uint8_t>((std::clamp(v, 0, 65535) * 255 + 32767) / 65535);
}

}  // namespace

Part middle_of(const FrameFormat& format) {
  Part part{.width = std::min(format.width, max_width),
            .height = std::min(format.height, max_height)};
  constexpr int alignment =
      8;  // a multiple of chroma subsampling and of the block size of encoders
  part.x = (format.width - part.width) / 2 / alignment * alignment;
  part.y = (format.height - part.height) / 2 / alignment * alignment;
  return part;
}

Frame part_of(const Frame& frame, const Part& part) {
  Frame inside = frame;
  inside.format.width = part.width;
  inside.format.height = part.height;
  inside.mask.reset();
  for (int i = 0; i < frame.format.planes(); ++i) {
    const int shift_x = i == 0 ? 0 : frame.format.chroma_shift_x;
    const int shift_y = i == 0 ? 0 : frame.format.chroma_shift_y;
    auto& plane = inside.planes[i];
    plane.data +=
        (part.y >> shift_y) * plane.stride + (part.x >> shift_x) * frame.format.bytes_per_sample();
    plane.width = inside.format.plane_width(i) * frame.format.bytes_per_sample();
    plane.height = inside.format.plane_height(i);
  }
  return inside;
}

int amplification(float sigma) {
  int factor = 1;
  while (factor < 32 && 3 * sigma * static_cast<float>(2 * factor) <= 127) factor *= 2;
  return factor;
}

ComparisonPictures compare_pictures(const Frame& before, const Frame& after, int factor) {
  const Frame noisy = io::to_rgb(before), clean = io::to_rgb(after);
  const bool grey = before.format.layout == Layout::gray;
  FramePool pool({.width = before.format.width,
                  .height = before.format.height,
                  .layout = grey ? Layout::gray : Layout::rgb});
  const ComparisonPictures pictures{pool.acquire(), pool.acquire(), pool.acquire()};
  for (int i = 0; i < (grey ? 1 : 3); ++i) {
    const PlaneView<const std::uint16_t> a = noisy.plane<std::uint16_t>(i);
    const PlaneView<const std::uint16_t> b = clean.plane<std::uint16_t>(i);
    const auto left = pictures.before.plane<std::uint8_t>(i);
    const auto middle = pictures.after.plane<std::uint8_t>(i);
    const auto right = pictures.difference.plane<std::uint8_t>(i);
    for (int y = 0; y < a.height; ++y)
      for (int x = 0; x < a.width; ++x) {
        left(x, y) = to_byte(a(x, y));
        middle(x, y) = to_byte(b(x, y));
        right(x, y) = to_byte(32896 + factor * (a(x, y) - b(x, y)));
      }
  }
  return pictures;
}

ComparisonPictures compare_pictures(const CutGeometry& geometry, const VolumeCuts& before,
                                    const VolumeCuts& after, int cut, int factor) {
  auto panels = cut_panels(geometry, before, after, cut, factor);
  return {std::move(panels[0]), std::move(panels[1]), std::move(panels[2])};
}

std::string slider_of(const ComparisonPictures& pictures, const std::array<std::string, 3>& names,
                      const std::string& caption) {
  return slider(
      {{names[0], pictures.before}, {names[1], pictures.after}, {names[2], pictures.difference}},
      caption);
}

}  // namespace lull::tools
