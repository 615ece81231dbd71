#include "noise/estimate/narrow_samples.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace lull {
namespace {

constexpr int container_bits = 16, min_bits = 8, max_bits = 14;

/// Returns the union of the bits of all samples of a frame.
unsigned bits_of(const Frame& frame) {
  unsigned all = 0;
  for (int i = 0; i < frame.format.planes(); ++i) {
    const auto plane = frame.plane<const std::uint16_t>(i);
    for (int y = 0; y < plane.height; ++y) {
      const std::uint16_t* row = plane.row(y);
      for (int x = 0; x < plane.width; ++x) all |= row[x];
    }
  }
  return all;
}

}  // namespace

int used_bits(std::span<const Excerpt> excerpts) {
  unsigned all = 0;
  for (const Excerpt& excerpt : excerpts)
    for (const Frame& frame : excerpt) {
      const FrameFormat& format = frame.format;
      if (format.sample != SampleType::u16 || format.bits != container_bits ||
          format.layout == Layout::yuv || format.luma_scale > 0)
        return 0;
      all |= bits_of(frame);
      if (all >> max_bits != 0) return 0;
    }
  return all == 0 ? 0 : std::max<int>(std::bit_width(all), min_bits);
}

std::vector<Excerpt> with_bits(std::span<const Excerpt> excerpts, int bits) {
  std::vector<Excerpt> result(excerpts.begin(), excerpts.end());
  for (Excerpt& excerpt : result)
    for (Frame& frame : excerpt) frame.format.bits = bits;
  return result;
}

NoiseEstimate at_16_bits(NoiseEstimate estimate, int bits) {
  const auto factor =
      static_cast<float>((1 << bits) - 1) / static_cast<float>((1 << container_bits) - 1);
  for (int i = 0; i < 3; ++i) {
    PlaneNoise& plane = estimate.noise.plane(i);
    plane.sigma = plane.level_in_samples();
    plane.curve = nullptr;
  }
  estimate.noise = scaled(estimate.noise, factor);
  for (float& level : estimate.level) level *= factor;
  for (float& level : estimate.excerpt_level) level *= factor;
  for (std::vector<LevelAtLuma>& levels : estimate.by_luma)
    for (LevelAtLuma& at : levels) at = {at.luma * factor, at.level * factor};
  estimate.coarse *= factor;
  return estimate;
}

}  // namespace lull
