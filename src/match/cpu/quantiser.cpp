#include "match/cpu/quantiser.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

namespace lull::cpu {

Quantiser quantiser_of(const MatchParams& params, std::span<const GuideAt> frames, float noise,
                       SampleRanges& ranges) {
  float low = frames[0].frame.samples(0, 0), high = low;
  for (const GuideAt& frame : frames) {
    const PlaneView<const float> guide = frame.frame.samples;
    ranges.resize(guide.height);
    tbb::parallel_for(0, guide.height, [&](int y) {
      ranges[y] = row_range({guide.row(y), static_cast<std::size_t>(guide.width)});
    });
    for (const auto& [l, h] : ranges) low = std::min(low, l), high = std::max(high, h);
  }
  float max_bias = frames.size() > 1 ? params.motion_bias : 0.0f;
  if (params.bias != nullptr)
    max_bias = std::max(max_bias, -*std::ranges::min_element(*params.bias));
  const float max_distance = params.tau + max_bias;
  const float unit_for_tau = std::sqrt(max_distance * (patch * patch) / max_score);
  // If the unit is a third of `noise`, the variance of the quantisation error, unit^2 / 12, is
  // below 1 % of the noise variance.
  const float unit = std::max({(high - low) / 254, std::min(unit_for_tau, noise / 3), 1e-6f});
  return {(low + high) / 2, unit};
}

}  // namespace lull::cpu
