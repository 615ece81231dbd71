#include "noise/estimate/brightness_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "noise/volume/estimate_photons.h"
#include "noise/volume/flat_cubes.h"

namespace lull {
namespace {

/// Conditions for a noise curve: minimum ratio of the noise level in the brightest blocks to the
/// noise level in the darkest blocks, minimum noise level in the brightest blocks, maximum relative
/// error of the slope, and maximum deviation of the bins from the line in standard errors. Texture
/// and noise of a constant level do not meet all conditions. Below a level of `weak_bright`,
/// texture resembles noise more often, so the error must be smaller (`weak_error`).
constexpr double min_rise = 1.5, min_bright = 1.5, max_error = 0.2, max_misfit = 2;
constexpr double weak_bright = 5, weak_error = 0.1;
/// The energy of flat blocks at middle frequencies, relative to the noise variance. White noise has
/// a ratio of 1. Texture in flat blocks changes the ratio.
constexpr double min_middle = 0.85, max_middle = 1.5;
/// A block is flat if its low-frequency energy is at most `max_low` times the noise variance.
constexpr double max_low = 1.4;
constexpr std::size_t min_flat = 24;
/// Lowest noise level of a curve: the standard deviation of rounding to integers of 8 bits.
constexpr double min_level = 0.29;

struct BlockStatistics {
  std::vector<CubeStatistics> blocks;
  std::vector<double> middle;  // energy of the coefficients with 4 <= v + u <= 6, for each block
};

BlockStatistics statistics_of(std::span<const float> values, const PictureBlocks& blocks) {
  constexpr int side = PictureBlocks::side;
  BlockStatistics result;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks.clipped[b] != 0) continue;
    const std::span<const float> of_block = values.subspan(b * side * side, side * side);
    CubeStatistics& block = result.blocks.emplace_back();
    block.mean = of_block[0] / side;
    double low = 0, middle = 0, high = 0;
    int lows = 0, middles = 0, highs = 0;
    for (int i = 1; i < side * side; ++i) {
      const int v = i / side, u = i % side;
      const auto energy = static_cast<double>(of_block[i] * of_block[i]);
      if (v + u <= 3) low += energy, ++lows;
      if (v + u >= 4 && v + u <= 6) middle += energy, ++middles;
      if (std::min(v, u) >= 5 && v + u >= 11) high += energy, ++highs;
    }
    block.low = static_cast<float>(low / lows);
    block.high = static_cast<float>(high / highs);
    result.middle.push_back(middle / middles);
  }
  return result;
}

/// Returns the median ratio of the energy at middle frequencies to the noise variance, over the
/// flat blocks. Returns 0 if there are too few flat blocks.
double middle_ratio(const BlockStatistics& statistics, const PhotonNoise& noise, double least) {
  std::vector<double> ratios;
  for (std::size_t b = 0; b < statistics.blocks.size(); ++b) {
    const CubeStatistics& block = statistics.blocks[b];
    const double variance = std::max(noise.variance(static_cast<double>(block.mean)), least);
    if (static_cast<double>(block.low) <= max_low * variance)
      ratios.push_back(statistics.middle[b] / variance);
  }
  return ratios.size() < min_flat ? 0 : median(std::move(ratios));
}

}  // namespace

BrightnessCurve brightness_curve(std::span<const float> values, const PictureBlocks& blocks) {
  const BlockStatistics statistics = statistics_of(values, blocks);
  const auto found = estimate_photons(statistics.blocks, {});
  if (!found || found->bright < std::max(min_rise * found->dark, min_bright)) return {};
  // Blocks that overlap are not independent, so the true standard errors are larger than those of
  // the fit.
  const double growth = std::max(1.0, static_cast<double>(PictureBlocks::side) / blocks.step);
  const double error = found->bright < weak_bright ? weak_error : max_error;
  if (found->slope_error * growth > error || found->misfit / growth > max_misfit) return {};
  const double least = std::max(found->dark * found->dark / 4, min_level * min_level);
  const double middle = middle_ratio(statistics, found->noise, least);
  if (middle < min_middle || middle > max_middle) return {};
  NoiseCurve curve;
  for (int i = 0; i < NoiseCurve::knots; ++i) {
    const double mean = static_cast<double>(NoiseCurve::spacing) * i;
    curve.sigma[i] = static_cast<float>(std::sqrt(std::max(found->noise.variance(mean), least)));
  }
  return {std::make_shared<NoiseCurve>(curve), static_cast<float>(std::min(1.0, 1 / middle))};
}

}  // namespace lull
