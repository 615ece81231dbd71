#include "noise/stills/channel_curves.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/colour.h"
#include "noise/stills/block_coefficients.h"

// The noise level of a developed channel falls with the value of the channel, because the tone
// curve is steep in dark areas. The noise level of a channel at the value v is approximately
// proportional to (v + 20)^-e. The level is specific to the channel, because the white balance and
// the colour matrix amplify the noise of each channel differently. The exponent e depends on the
// camera, the exposure and the tone curve.

// For each channel, the estimator divides the blocks into ranges of the value of the channel, and
// measures the noise level of the channel in the flattest blocks of each range. A regression of the
// logarithms determines the exponent. The channels share one exponent: stabilising functions of
// different shape would turn grey texture into colour (docs/measurements/camera-noise.md).

namespace lull {
namespace {

constexpr int value_ranges = 8;  // ranges of the value of a channel, with equal numbers of blocks
constexpr double measured_share = 0.05;  // share of a range's blocks that is measured

constexpr double value_offset = 20;  // added to a value before the logarithm, 0..255 scale
/// Exponent e of developed pictures in the simulations. `typical_weight` is the weight of this
/// exponent in the regression, as a sum of squared deviations of log(v + 20). Pictures without
/// dark areas have a sum below 0.3 in three channels.
constexpr double typical_exponent = 0.6, typical_weight = 1;
constexpr double max_exponent = 1.2;
constexpr double min_exponent = 0.1;  // below this exponent, the noise level is nearly constant

/// The maximum ratio of the noise levels at two values. From a value to a smaller one, the level
/// may rise by 1.1 (v + 20)^-1. From a value to a larger one, it may rise by a factor of 1.1.
/// Higher levels are texture.
constexpr double tolerance = 1.1;

struct LevelAtValue {
  double value = 0, level = 0;
};
using Levels = std::vector<LevelAtValue>;

class Measurement {
 public:
  Measurement(const OpponentValues& values, const PictureBlocks& blocks, const UsableBlocks& usable,
              const DemosaicedNoise& noise)
      : values_(values), usable_(usable) {
    std::array<BlockPlane, 3> planes;
    for (int i = 0; i < 3; ++i) planes[i] = {values[i], noise.tables[i]};
    energies_ = energies_around(planes, blocks, usable);
    luma_share_ = fine_energy(noise.tables[0]) /
                  std::max(1e-9, fine_energy(noise.tables[1]) + fine_energy(noise.tables[2]));
  }

  /// Returns the noise level of R, G or B in each range of the value of the channel.
  Levels levels(int channel) const {
    std::vector<float> value(usable_.is.size());
    std::vector<int> ordered;
    for (std::size_t b = 0; b < value.size(); ++b) {
      value[b] = coefficient(channel, b, 0) / 8;
      if (usable_.is[b]) ordered.push_back(static_cast<int>(b));
    }
    rank(ordered, value);
    Levels result;
    for (int r = 0; r < value_ranges; ++r)
      result.push_back(level_in(channel, brightness_range(ordered, r, value_ranges)));
    return result;
  }

 private:
  /// Returns coefficient `k` of R, G or B in block `b`.
  float coefficient(int channel, std::size_t b, int k) const {
    float sum = 0;
    for (int i = 0; i < 3; ++i) sum += opponent_inverse[channel][i] * values_[i][b * 64 + k];
    return sum;
  }

  LevelAtValue level_in(int channel, std::span<const int> members) const {
    std::vector<int> ranked(members.begin(), members.end());
    double value = 0, luma = 0, chroma = 0, own = 0;
    double blocks = 0, count = 0;
    const auto square = [](float c) { return static_cast<double>(c * c); };
    for (int set = 0; set < 2; ++set) {
      rank(ranked, energies_[set]);
      for (const int block : first_of(ranked, measured_share)) {
        const std::size_t b = static_cast<std::size_t>(block);
        value += static_cast<double>(coefficient(channel, b, 0)) / 8;
        ++blocks;
        for (int k = 1; k < 64; ++k) {
          if (!is_fine(k) || set_of(k) == set) continue;
          luma += square(values_[0][b * 64 + k]);
          chroma += square(values_[1][b * 64 + k]) + square(values_[2][b * 64 + k]);
          own += square(coefficient(channel, b, k));
          ++count;
        }
      }
    }
    // Luma contains grey texture even in flat blocks. The estimator therefore derives the noise of
    // luma from the noise of chroma, and regards the rest of the luma energy as texture.
    constexpr double min_rest = 0.1;
    const double texture = std::max(0.0, luma - luma_share_ * chroma);
    const double rest = std::max(min_rest * own, own - texture);
    return {value / blocks, std::sqrt(std::max(1e-3, rest / count))};
  }

  const OpponentValues& values_;
  const UsableBlocks& usable_;
  Energies energies_;
  double luma_share_ = 0;  // noise variance of Y, divided by the sum for U and V
};

double shifted(double value) { return std::max(0.0, value) + value_offset; }

/// Limits each level to the maximum that is plausible compared with the other levels.
void limit(Levels& levels) {
  const Levels measured = levels;
  for (LevelAtValue& at : levels)
    for (const LevelAtValue& from : measured)
      if (at.value != from.value)
        at.level = std::min(at.level, from.level * tolerance *
                                          std::max(1.0, shifted(from.value) / shifted(at.value)));
}

/// Sums for the regression of log(level) on log(v + 20): means, and sums of products of deviations
/// from the means.
struct Regression {
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;

  explicit Regression(const Levels& levels) {
    const auto x = [](const LevelAtValue& l) { return std::log(shifted(l.value)); };
    const auto y = [](const LevelAtValue& l) { return std::log(l.level); };
    const double count = static_cast<double>(levels.size());
    for (const LevelAtValue& l : levels) mean_x += x(l) / count, mean_y += y(l) / count;
    for (const LevelAtValue& l : levels) {
      xx += (x(l) - mean_x) * (x(l) - mean_x);
      xy += (x(l) - mean_x) * (y(l) - mean_y);
    }
  }
};

NoiseCurve curve_of(const Regression& regression, double exponent) {
  NoiseCurve curve;
  for (int k = 0; k < NoiseCurve::knots; ++k) {
    const double x = std::log(shifted(static_cast<double>(NoiseCurve::spacing) * k));
    curve.sigma[k] =
        static_cast<float>(std::exp(regression.mean_y - exponent * (x - regression.mean_x)));
  }
  return curve;
}

}  // namespace

ChannelCurves channel_curves(const OpponentValues& values, const PictureBlocks& blocks,
                             const UsableBlocks& usable, const DemosaicedNoise& noise) {
  const Measurement measurement(values, blocks, usable, noise);
  std::vector<Regression> regressions;
  double xx = typical_weight, xy = -typical_weight * typical_exponent;
  double measured_xy = 0;
  for (int c = 0; c < 3; ++c) {
    Levels levels = measurement.levels(c);
    measured_xy += Regression(levels).xy;
    limit(levels);
    regressions.emplace_back(levels);
    xx += regressions[c].xx;
    xy += regressions[c].xy;
  }
  const double exponent = std::min(-xy / xx, max_exponent);
  ChannelCurves curves;
  // In linear light, the noise level rises with the value.
  if (measured_xy >= 0 || exponent < min_exponent) return curves;
  for (int c = 0; c < 3; ++c)
    curves[c] = std::make_shared<const NoiseCurve>(curve_of(regressions[c], exponent));
  return curves;
}

}  // namespace lull
