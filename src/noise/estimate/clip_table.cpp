#include "noise/estimate/clip_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "noise/clipped_gaussian.h"
#include "noise/stills/block_coefficients.h"

namespace lull {
namespace {

constexpr std::size_t min_blocks = 30, enough_blocks = 60;
/// Number of groups of blocks with similar brightness. The groups have equal numbers of blocks, so
/// that the measurement covers all brightnesses.
constexpr std::size_t brightness_groups = 4;
/// Criteria of keep_smooth() (docs/measurements/noise-estimation.md). The function keeps the blocks
/// with the smallest slopes, a share `smooth_share` of all blocks. From these blocks, the function
/// removes the blocks with a ring energy above `still_typical` * t, where t is the quantile
/// `typical` of ClipDifference::ring_energy.
constexpr double smooth_share = 0.2, typical = 0.4;
constexpr float still_typical = 1.3f;

/// Drops blocks with many clipped samples in the ring around the block, if enough other blocks
/// remain. The function ignores clipped samples inside the block, because a selection by these
/// samples would bias the measured noise.
void drop_clipped(std::vector<ClipDifference>& blocks) {
  constexpr float hardly = 0.02f;
  const auto clipped = [](const ClipDifference& b) { return b.clipped > hardly; };
  const auto left =
      blocks.size() - static_cast<std::size_t>(std::ranges::count_if(blocks, clipped));
  if (left >= std::max(4 * enough_blocks, blocks.size() / 20)) std::erase_if(blocks, clipped);
}

/// Selects the smoothest blocks with well-compensated motion.
void keep_smooth(std::vector<ClipDifference>& blocks) {
  std::ranges::stable_sort(blocks, {}, &ClipDifference::texture);
  const auto share = static_cast<std::size_t>(smooth_share * static_cast<double>(blocks.size()));
  blocks.resize(std::min(blocks.size(), std::max(enough_blocks, share)));
  if (blocks.empty()) return;
  std::vector<float> around;
  for (const ClipDifference& b : blocks) around.push_back(b.ring_energy);
  const auto middle = around.begin() +
                      static_cast<std::ptrdiff_t>(typical * static_cast<double>(around.size() - 1));
  std::ranges::nth_element(around, middle);
  const float limit = still_typical * *middle;
  std::erase_if(blocks, [&](const ClipDifference& b) { return b.ring_energy > limit; });
}

/// Returns the share of a block's noise variance that remains after clipping. Returns 0 if too
/// little variance remains, or if the share of clipped samples exceeds the expected share by more
/// than sampling errors plus `slack`. The estimator ignores blocks with the share 0.
float retained_share(const ClipChannel& channel, float sigma, double slack) {
  constexpr double min_retained = 0.1, deviations = 4;
  constexpr double samples = 2 * clip_block * clip_block;
  const auto low = clipped_gaussian(static_cast<double>(channel.above_low / sigma));
  const auto high = clipped_gaussian(static_cast<double>(channel.below_high / sigma));
  // low.variance and high.variance are the shares of the noise variance that remain after clipping
  // at one limit. For noise that is clipped at both limits, the remaining share is close to their
  // product.
  const double left = low.variance * high.variance;
  const double clipped_share = std::min(low.clipped_share + high.clipped_share, 1.0);
  const double maximum =
      clipped_share + slack + deviations * std::sqrt(clipped_share * (1 - clipped_share) / samples);
  return static_cast<double>(channel.clipped_share) <= maximum && left > min_retained
             ? static_cast<float>(left)
             : 0;
}

bool is_clipped(const ClipDifference& b) {
  return std::ranges::any_of(b.channels, [](const ClipChannel& c) { return c.clipped_share > 0; });
}

/// Sets ClipDifference::retained of each block: the share of the noise variance that remains after
/// clipping. `variance` is the noise variance before clipping.
void set_retained(std::span<ClipDifference> blocks, float variance, const ChannelShares& shares,
                  double slack) {
  for (ClipDifference& b : blocks) {
    b.retained = 0;
    for (std::size_t c = 0; c < b.channels.size(); ++c) {
      if (shares.weight[c] == 0) continue;
      const float left =
          retained_share(b.channels[c], std::sqrt(shares.variance[c] * variance), slack);
      b.retained += shares.weight[c] * left;
      if (left == 0) {
        b.retained = 0;
        break;
      }
    }
  }
}

/// Limits of energies, relative to the current variances. The estimator ignores blocks with a mean
/// energy above `max_energy`, because such blocks contain motion. The estimator limits the energy
/// of a single coefficient to `max_coefficient_energy`.
constexpr float max_energy = 1.7f, max_coefficient_energy = 30;
constexpr float floor = 1e-4f;

CoefficientTable medians_of(std::span<const ClipDifference> blocks) {
  CoefficientTable medians;
  std::vector<float> values(blocks.size());
  for (int k = 0; k < 64; ++k) {
    for (std::size_t i = 0; i < blocks.size(); ++i) values[i] = blocks[i].energy[k];
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    medians[k] = *middle / 0.455f;  // median of the square of a standard normal value
  }
  return medians;
}

/// Returns the mean energy of each coefficient, corrected for clipping. The coefficients form two
/// sets, by the parity of v + u. To avoid a selection bias, the function measures one set in blocks
/// that it selects by the energy of the other set.
CoefficientTable remeasured(const CoefficientTable& variances,
                            std::span<const ClipDifference> blocks) {
  std::array<double, 64> sums{};
  std::array<double, 2> weights{};
  for (const ClipDifference& b : blocks) {
    if (b.retained == 0) continue;
    std::array<float, 2> energy{};
    for (int k = 1; k < 64; ++k)
      energy[set_of(k)] +=
          std::min(b.energy[k] / b.retained / (variances[k] + floor), max_coefficient_energy) / 32;
    for (int set = 0; set < 2; ++set) {
      if (energy[1 - set] > max_energy) continue;
      weights[set] += static_cast<double>(b.retained);
      for (int k = 0; k < 64; ++k)
        if (set_of(k) == set) sums[k] += static_cast<double>(b.energy[k]);
    }
  }
  CoefficientTable means{};
  for (int k = 0; k < 64; ++k)
    if (weights[set_of(k)] > 0) means[k] = static_cast<float>(sums[k] / weights[set_of(k)]);
  return means;
}

/// Extrapolates an upper limit for the variance of coefficient (0, 0) from the other coefficients.
/// The measured variance is too high, because it also contains noise of the ring around the block.
CoefficientTable with_mean(CoefficientTable variances) {
  const float lead = variances[1] * variances[8] / std::max(variances[9], floor);
  const float maximum = 1.5f * std::max(variances[1], variances[8]);
  variances[0] = std::min({variances[0], maximum, std::max({lead, variances[1], variances[8]})});
  return variances;
}

float variance_of_samples(const CoefficientTable& variances) {
  float sum = 0;
  for (const float v : variances) sum += v / 64;
  return sum;
}

/// Computes iteratively the noise variances before clipping. Each round roughly halves the error.
CoefficientTable without_clipping(CoefficientTable variances, std::span<ClipDifference> blocks,
                                  const ChannelShares& shares, double slack) {
  constexpr int max_rounds = 40;
  constexpr float settled = 1e-4f;
  for (int round = 0; round < max_rounds; ++round) {
    const float before = variance_of_samples(variances);
    set_retained(blocks, before, shares, slack);
    variances = with_mean(remeasured(variances, blocks));
    if (std::abs(variance_of_samples(variances) - before) <= settled * before) break;
  }
  return variances;
}

}  // namespace

std::vector<ClipDifference> select_blocks(std::vector<ClipDifference> blocks) {
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
  if (blocks.size() < min_blocks) return std::nullopt;
  constexpr int rounds = 4;
  CoefficientTable variances = medians_of(blocks);
  for (int round = 0; round < rounds; ++round) variances = remeasured(variances, blocks);
  return with_mean(variances);
}

std::optional<CoefficientTable> variances_of(std::span<ClipDifference> blocks,
                                             const ChannelShares& shares) {
  for (ClipDifference& b : blocks) b.retained = 1;
  const auto clipped = clipped_variances_of(blocks);
  if (!clipped || std::ranges::none_of(blocks, is_clipped)) return clipped;
  // The first pass of the loop determines the noise level. The second pass, with a smaller `slack`,
  // excludes blocks that overlap a letterbox: such blocks have more clipped samples than noise of
  // this level causes.
  CoefficientTable variances = *clipped;
  for (const double slack : {0.2, 0.02}) {
    const CoefficientTable settled = without_clipping(variances, blocks, shares, slack);
    const auto counts = std::ranges::count_if(blocks, [](const auto& b) { return b.retained > 0; });
    if (static_cast<std::size_t>(counts) < min_blocks) break;
    variances = settled;
  }
  return variances;
}

float mean_variance(const CoefficientTable& variances) {
  double sum = 0;
  for (int k = 1; k < 64; ++k) sum += static_cast<double>(variances[k]);
  return static_cast<float>(sum / 63);
}

float median_of(std::vector<float> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

}  // namespace lull
