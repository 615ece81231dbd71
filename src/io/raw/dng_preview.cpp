#include "io/raw/dng_preview.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/raw/dng_tags.h"

namespace lull::io {
namespace {

constexpr int max_side = 1024;

std::uint8_t srgb_byte(float light) {
  const float v = std::clamp(light, 0.0f, 1.0f);
  const float s = v <= 0.0031308f ? 12.92f * v : 1.055f * std::pow(v, 1 / 2.4f) - 0.055f;
  return static_cast<std::uint8_t>(std::lround(255 * s));
}

/// Returns the mean colour of a block, where 0 is black and 1 is white.
std::array<float, 3> mean_colour(const RawFacts& facts, const Frame& result,
                                 const DngLevels& levels, int left, int top, int side) {
  std::array<double, 3> sum{};
  std::array<int, 3> count{};
  const bool is_mosaic = result.format.planes() == 1;
  const int right = std::min(left + side, result.format.width),
            bottom = std::min(top + side, result.format.height);
  for (int plane = 0; plane < result.format.planes(); ++plane) {
    const PlaneView<const std::uint16_t> samples = result.plane<std::uint16_t>(plane);
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) {
        const int site = (y & 1) * 2 + (x & 1);
        const int colour = is_mosaic ? facts.colours[site] : plane;
        sum[colour] += samples(x, y) - levels.black[is_mosaic ? site : plane];
        ++count[colour];
      }
  }
  std::array<float, 3> mean{};
  for (int c = 0; c < 3; ++c)
    if (count[c] > 0)
      mean[c] = static_cast<float>(sum[c] / count[c] / (levels.white - levels.black[c]));
  return mean;
}

}  // namespace

DngPreview make_preview(const RawFacts& facts, const Frame& result, const DngLevels& levels) {
  const int longest = std::max(result.format.width, result.format.height);
  // The side of a block is even, so that a block contains whole 2x2 cells of the Bayer mosaic.
  const int side = std::max(2, 2 * ((longest + 2 * max_side - 1) / (2 * max_side)));
  DngPreview preview;
  preview.format = {.width = std::max(result.format.width / side, 1),
                    .height = std::max(result.format.height / side, 1),
                    .layout = Layout::rgb};
  preview.samples.reserve(static_cast<std::size_t>(preview.format.width) * preview.format.height *
                          3);
  for (int y = 0; y < preview.format.height; ++y)
    for (int x = 0; x < preview.format.width; ++x) {
      std::array<float, 3> colour = mean_colour(facts, result, levels, x * side, y * side, side);
      for (int c = 0; c < 3; ++c) colour[c] = std::min(colour[c] * facts.balance[c], 1.0f);
      for (const std::array<float, 3>& row : facts.srgb_from_camera)
        preview.samples.push_back(
            srgb_byte(row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2]));
    }
  return preview;
}

}  // namespace lull::io
