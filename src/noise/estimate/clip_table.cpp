#include "noise/estimate/clip_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "noise/clipped_gaussian.h"
#include "noise/estimate/block_coefficients.h"

namespace lull {
namespace {

constexpr std::size_t least_blocks = 30, enough_blocks = 60;
/// Of equal count, by brightness, so that noise that depends on it is judged everywhere.
constexpr std::size_t brightness_groups = 4;
/// The share with the least slopes that is looked at; the quantile of what differs around blocks
/// that is typical among those, and how far above it blocks still count. Chosen on three clips
/// (docs/measurements/noise-estimation.md), where twice the share reads 0.02 more.
constexpr double smooth_share = 0.2, typical = 0.4;
constexpr float still_typical = 1.3f;

/// Leaves those around which hardly a sample is clipped, if they are enough; if not, all. What is
/// clipped in them is made up for: how much of a block is depends on its noise, so that it may not
/// choose.
void drop_clipped(std::vector<ClipDifference>& blocks) {
  constexpr float hardly = 0.02f;
  const auto clipped = [](const ClipDifference& b) { return b.clipped > hardly; };
  const auto left =
      blocks.size() - static_cast<std::size_t>(std::ranges::count_if(blocks, clipped));
  if (left >= std::max(4 * enough_blocks, blocks.size() / 20)) std::erase_if(blocks, clipped);
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

/// What clipping leaves of the variance of a channel's noise of level `sigma` in a block. 0: more
/// of its samples lie at an end than noise of that level carries there from one brightness, so that
/// the block is of several, or a bar's; or what is left says too little. `slack`: share of samples
/// that may be too many.
float left_of(const ClipChannel& channel, float sigma, double slack) {
  constexpr double least_left = 0.1, deviations = 4;
  constexpr double samples = 2 * clip_block * clip_block;
  const auto low = clipped_gaussian(static_cast<double>(channel.above_low / sigma));
  const auto high = clipped_gaussian(static_cast<double>(channel.below_high / sigma));
  // (Of noise that both ends clip, the product is all but exact.)
  const double left = low.variance * high.variance;
  const double at_ends = std::min(low.at_end + high.at_end, 1.0);
  const double most = at_ends + slack + deviations * std::sqrt(at_ends * (1 - at_ends) / samples);
  return static_cast<double>(channel.at_ends) <= most && left > least_left
             ? static_cast<float>(left)
             : 0;
}

bool is_clipped(const ClipDifference& b) {
  return std::ranges::any_of(b.channels, [](const ClipChannel& c) { return c.at_ends > 0; });
}

/// By the mean of each block, for noise of this variance.
void say_what_is_left(std::span<ClipDifference> blocks, float variance, const ChannelShares& shares,
                      double slack) {
  for (ClipDifference& b : blocks) {
    b.left = 0;
    for (std::size_t c = 0; c < b.channels.size(); ++c) {
      if (shares.weight[c] == 0) continue;
      const float left = left_of(b.channels[c], std::sqrt(shares.variance[c] * variance), slack);
      b.left += shares.weight[c] * left;
      if (left == 0) {
        b.left = 0;
        break;
      }
    }
  }
}

/// A block whose other set has more than this, in units of its variances, shows motion.
constexpr float most_energy = 1.7f, most_of_one = 30;
constexpr float floor = 1e-4f;

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

/// The means of what blocks hold, over what clipping left there, of those that are not far above
/// the variances so far: what chooses does not measure.
CoefficientTable measured_again(const CoefficientTable& variances,
                                std::span<const ClipDifference> blocks) {
  std::array<double, 64> sums{};
  std::array<double, 2> weights{};
  for (const ClipDifference& b : blocks) {
    if (b.left == 0) continue;
    std::array<float, 2> energy{};
    for (int k = 1; k < 64; ++k)
      energy[set_of(k)] +=
          std::min(b.energy[k] / b.left / (variances[k] + floor), most_of_one) / 32;
    for (int set = 0; set < 2; ++set) {
      if (energy[1 - set] > most_energy) continue;
      weights[set] += static_cast<double>(b.left);
      for (int k = 0; k < 64; ++k)
        if (set_of(k) == set) sums[k] += static_cast<double>(b.energy[k]);
    }
  }
  CoefficientTable means{};
  for (int k = 0; k < 64; ++k)
    if (weights[set_of(k)] > 0) means[k] = static_cast<float>(sums[k] / weights[set_of(k)]);
  return means;
}

/// The mean is measured against the surroundings, whose own noise adds to it: where the spectrum
/// leads is better, if it is separable.
CoefficientTable with_mean(CoefficientTable variances) {
  const float lead = variances[1] * variances[8] / std::max(variances[9], floor);
  const float most = 1.5f * std::max(variances[1], variances[8]);
  variances[0] = std::min({variances[0], most, std::max({lead, variances[1], variances[8]})});
  return variances;
}

float variance_of_samples(const CoefficientTable& variances) {
  float sum = 0;
  for (const float v : variances) sum += v / 64;
  return sum;
}

/// In rounds, each of which comes about half as near.
CoefficientTable without_clipping(CoefficientTable variances, std::span<ClipDifference> blocks,
                                  const ChannelShares& shares, double slack) {
  constexpr int most_rounds = 40;
  constexpr float settled = 1e-4f;
  for (int round = 0; round < most_rounds; ++round) {
    const float before = variance_of_samples(variances);
    say_what_is_left(blocks, before, shares, slack);
    variances = with_mean(measured_again(variances, blocks));
    if (std::abs(variance_of_samples(variances) - before) <= settled * before) break;
  }
  return variances;
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

std::optional<CoefficientTable> clipped_variances_of(std::span<const ClipDifference> blocks) {
  if (blocks.size() < least_blocks) return std::nullopt;
  constexpr int rounds = 4;
  CoefficientTable variances = medians_of(blocks);
  for (int round = 0; round < rounds; ++round) variances = measured_again(variances, blocks);
  return with_mean(variances);
}

std::optional<CoefficientTable> variances_of(std::span<ClipDifference> blocks,
                                             const ChannelShares& shares) {
  for (ClipDifference& b : blocks) b.left = 1;
  const auto clipped = clipped_variances_of(blocks);
  if (!clipped || std::ranges::none_of(blocks, is_clipped)) return clipped;
  // The level comes from below, where noise carries less to the ends than it did: what is a bar's
  // can be told once it is near.
  CoefficientTable variances = *clipped;
  for (const double slack : {0.2, 0.02}) {
    const CoefficientTable settled = without_clipping(variances, blocks, shares, slack);
    const auto counts = std::ranges::count_if(blocks, [](const auto& b) { return b.left > 0; });
    if (static_cast<std::size_t>(counts) < least_blocks) break;
    variances = settled;
  }
  return variances;
}

float mean_variance(const CoefficientTable& variances) {
  double sum = 0;
  for (int k = 1; k < 64; ++k) sum += static_cast<double>(variances[k]);
  return static_cast<float>(sum / 63);
}

}  // namespace lull
