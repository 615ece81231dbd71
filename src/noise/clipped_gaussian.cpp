#include "noise/clipped_gaussian.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace lull {
namespace {

/// A table of the moments of clipped samples as a function of the intensity. The intensity ranges
/// from 4 standard deviations outside the clipping limit to 6 standard deviations inside.
struct ClippingTable {
  static constexpr int points = 1001;
  static constexpr double first = -4, spacing = 0.01;
  std::array<double, points> mean, variance, clipped_share;

  ClippingTable() {
    for (int i = 0; i < points; ++i) {
      const double t = first + spacing * i;
      const double density = std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi);
      const double inside = std::erfc(-t / std::numbers::sqrt2) / 2;
      mean[i] = t * inside + density;
      variance[i] = (t * t + 1) * inside + t * density - mean[i] * mean[i];
      clipped_share[i] = 1 - inside;
    }
  }
};

}  // namespace

ClippedGaussian clipped_gaussian(double distance) {
  static const ClippingTable table;
  if (!(distance < table.mean.back())) return {distance, 1, 0};
  const auto above = std::ranges::upper_bound(table.mean, distance) - table.mean.begin();
  const std::size_t next = std::max<std::size_t>(static_cast<std::size_t>(above), 1);
  const double low = table.mean[next - 1], high = table.mean[next];
  const double share = std::clamp((distance - low) / (high - low), 0.0, 1.0);
  return {ClippingTable::first + ClippingTable::spacing * (static_cast<double>(next - 1) + share),
          std::lerp(table.variance[next - 1], table.variance[next], share),
          std::lerp(table.clipped_share[next - 1], table.clipped_share[next], share)};
}

}  // namespace lull
