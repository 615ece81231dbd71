#include "noise/estimate/clip_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "noise/estimate/block_coefficients.h"

namespace lull {
namespace {

constexpr std::size_t least_blocks = 30, enough_blocks = 60;
/// Of equal count, by brightness, so that noise that depends on it is judged everywhere.
constexpr std::size_t brightness_groups = 4;
/// The share with the least slopes that is looked at; the quantile of what differs around blocks
/// that is typical among those, and how far above it blocks still count. Chosen on three clips
/// (docs/noise.md), where twice the share reads 0.02 more.
constexpr double smooth_share = 0.2, typical = 0.4;
constexpr float still_typical = 1.3f;

/// Those with the fewest clipped samples, if they are enough.
void drop_clipped(std::vector<ClipDifference>& blocks) {
  for (const float limit : {0.02f, 0.1f, 0.3f}) {
    const auto fits = [&](const ClipDifference& b) { return b.clipped <= limit; };
    const auto fitting = static_cast<std::size_t>(std::ranges::count_if(blocks, fits));
    if (fitting < std::max(4 * enough_blocks, blocks.size() / 20) && limit < 0.3f) continue;
    std::erase_if(blocks, [&](const ClipDifference& b) { return !fits(b); });
    return;
  }
}

/// Leaves the smooth ones, and of those the ones that are followed well.
void keep_smooth(std::vector<ClipDifference>& blocks) {
  std::ranges::stable_sort(blocks, {}, &ClipDifference::texture);
  const auto share = static_cast<std::size_t>(smooth_share * static_cast<double>(blocks.size()));
  blocks.resize(std::min(blocks.size(), std::max(enough_blocks, share)));
  if (blocks.empty()) return;
  std::vector<float> around;
  for (const ClipDifference& b : blocks) around.push_back(b.around);
  const auto middle = around.begin() +
                      static_cast<std::ptrdiff_t>(typical * static_cast<double>(around.size() - 1));
  std::ranges::nth_element(around, middle);
  const float limit = still_typical * *middle;
  std::erase_if(blocks, [&](const ClipDifference& b) { return b.around > limit; });
}

/// The variance of N(0, 1) once the share `clipped` of it is moved to where it begins.
double variance_of_clipped(double clipped) {
  if (clipped < 1e-4) return 1;
  const auto below = [](double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; };
  double low = -6, high = 0;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (below(middle) < clipped ? low : high) = middle;
  }
  const double z = low, density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double mean = density + z * below(z);
  return z * z * below(z) + (1 - below(z)) + z * density - mean * mean;
}

/// A block whose other set has more than this, in units of its variances, shows motion.
constexpr float most_energy = 1.7f, most_of_one = 30;

CoefficientTable medians_of(std::span<const ClipDifference> blocks) {
  CoefficientTable medians;
  std::vector<float> values(blocks.size());
  for (int k = 0; k < 64; ++k) {
    for (std::size_t i = 0; i < blocks.size(); ++i) values[i] = blocks[i].energy[k];
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    medians[k] = *middle / 0.455f;  // of squares of N(0, 1)
  }
  return medians;
}

}  // namespace

std::vector<ClipDifference> judgeable(std::vector<ClipDifference> blocks) {
  std::erase_if(blocks, [](const ClipDifference& b) { return !b.valid || b.copied || b.constant; });
  drop_clipped(blocks);
  const std::size_t groups =
      blocks.size() < brightness_groups * 4 * enough_blocks ? 1 : brightness_groups;
  std::ranges::stable_sort(blocks, {}, &ClipDifference::brightness);
  std::vector<ClipDifference> kept;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto at = [&](std::size_t i) {
      return blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() * i / groups);
    };
    std::vector<ClipDifference> group(at(g), at(g + 1));
    keep_smooth(group);
    kept.insert(kept.end(), group.begin(), group.end());
  }
  return kept;
}

std::optional<CoefficientTable> variances_of(std::span<const ClipDifference> blocks) {
  if (blocks.size() < least_blocks) return std::nullopt;
  constexpr float floor = 1e-4f;
  constexpr int rounds = 4;
  CoefficientTable variances = medians_of(blocks);
  for (int round = 0; round < rounds; ++round) {
    std::array<double, 64> sums{};
    std::array<int, 2> counts{};
    for (const ClipDifference& b : blocks) {
      std::array<float, 2> energy{};
      for (int k = 1; k < 64; ++k)
        energy[set_of(k)] += std::min(b.energy[k] / (variances[k] + floor), most_of_one) / 32;
      for (int set = 0; set < 2; ++set) {
        if (energy[1 - set] > most_energy) continue;
        ++counts[set];
        for (int k = 0; k < 64; ++k)
          if (set_of(k) == set) sums[k] += static_cast<double>(b.energy[k]);
      }
    }
    for (int k = 0; k < 64; ++k)
      variances[k] = static_cast<float>(sums[k] / std::max(counts[set_of(k)], 1));
  }
  double clipped = 0;
  for (const ClipDifference& b : blocks) clipped += static_cast<double>(b.clipped);
  const double left = variance_of_clipped(clipped / static_cast<double>(blocks.size()));
  for (float& v : variances) v = static_cast<float>(static_cast<double>(v) / left);
  // The mean is measured against the surroundings, whose own noise adds to it: where the spectrum
  // leads is better, if it is separable.
  const float lead = variances[1] * variances[8] / std::max(variances[9], floor);
  const float most = 1.5f * std::max(variances[1], variances[8]);
  variances[0] = std::min({variances[0], most, std::max({lead, variances[1], variances[8]})});
  return variances;
}

float mean_variance(const CoefficientTable& variances) {
  double sum = 0;
  for (int k = 1; k < 64; ++k) sum += static_cast<double>(variances[k]);
  return static_cast<float>(sum / 63);
}

}  // namespace lull
