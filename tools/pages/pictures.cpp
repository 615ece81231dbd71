#include "tools/pages/pictures.h"

#include <algorithm>

#include "core/frame_pool.h"
#include "core/slices.h"
#include "io/picture.h"

namespace lull::tools {
namespace {

constexpr int max_width = 512, max_height = 384;  // size of the displayed part in samples

std::uint8_t to_byte(int v) {
  return static_cast<std::uint8_t>((std::clamp(v, 0, 65535) * 255 + 32767) / 65535);
}

/// Outside the mask, where results are arbitrary, copies the noisy samples to the result.
template <class T>
void restore_outside_mask(const Frame& noisy, const Part& part, const Frame& result) {
  const PlaneView<const T> from = noisy.plane<T>(0);
  const PlaneView<T> to = result.plane<T>(0);
  for (int y = 0; y < part.height; ++y)
    for (int x = 0; x < part.width; ++x)
      if (!noisy.mask->inside(x + part.x, y + part.y)) to(x, y) = from(x + part.x, y + part.y);
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

Frame within_mask(const Frame& noisy, const Frame& result, const Part& part) {
  FrameFormat format = result.format;
  format.width = part.width, format.height = part.height;
  FramePool pool(format);
  Frame copy = pool.acquire();
  const Frame inside = part_of(result, part);
  for (int i = 0; i < format.planes(); ++i)
    for (int y = 0; y < format.plane_height(i); ++y)
      std::copy_n(inside.planes[i].row(y), format.plane_width(i) * format.bytes_per_sample(),
                  copy.planes[i].row(y));
  copy.copy_info(result);
  if (!noisy.mask || format.layout != Layout::gray) return copy;
  switch (format.sample) {
    case SampleType::u8:
      restore_outside_mask<std::uint8_t>(noisy, part, copy);
      break;
    case SampleType::u16:
      restore_outside_mask<std::uint16_t>(noisy, part, copy);
      break;
    case SampleType::f32:
      restore_outside_mask<float>(noisy, part, copy);
      break;
  }
  return copy;
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
