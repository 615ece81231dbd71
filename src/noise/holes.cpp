#include "noise/holes.h"

#include "core/error.h"

namespace lull {

Holes::Holes(int width, int height, const std::vector<bool>& hole)
    : width_(width), height_(height), sums_(static_cast<std::size_t>(width + 1) * (height + 1)) {
  const std::size_t pitch = width + 1;
  for (int y = 0; y < height; ++y) {
    std::int32_t row = 0;
    for (int x = 0; x < width; ++x) {
      row += hole[static_cast<std::size_t>(y) * width + x] ? 1 : 0;
      sums_[(y + 1) * pitch + x + 1] = sums_[y * pitch + x + 1] + row;
    }
  }
}

Holes Holes::field(int parity) const {
  std::vector<bool> rows(static_cast<std::size_t>(width_) * (height_ / 2));
  for (int y = 0; y < height_ / 2; ++y)
    for (int x = 0; x < width_; ++x)
      rows[static_cast<std::size_t>(y) * width_ + x] = at(x, 2 * y + parity);
  return {width_, height_ / 2, rows};
}

std::vector<std::uint8_t> Holes::reached(int side) const {
  std::vector<std::uint8_t> places(static_cast<std::size_t>(width_) * height_);
  for (int y = 0; y + side <= height_; ++y)
    for (int x = 0; x + side <= width_; ++x)
      places[static_cast<std::size_t>(y) * width_ + x] = any_in(x, y, side) ? 1 : 0;
  return places;
}

void check_holes(const FrameFormat& format) {
  if (format.planes() != 1)
    throw InvalidArgument(
        "holes in frames of several planes (only grey frames can have holes); filter each plane "
        "alone");
}

const std::shared_ptr<const Holes>& holes_of(const Frame& frame) {
  const Holes* const holes = frame.holes.get();
  if (holes && (holes->width() != frame.format.width || holes->height() != frame.format.height))
    throw InvalidArgument(
        "holes of another size than their frame (holes are given sample by sample); give holes of "
        "the frame's size");
  return frame.holes;
}

}  // namespace lull
