#include "noise/stills/white_level.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "noise/clipped_gaussian.h"

// The estimator alternates two steps: it selects the blocks with hardly more energy than noise, and
// measures the noise in these blocks (Liu, Tanaka, Okutomi 2013, doi:10.1109/TIP.2013.2283400).

// The DCT coefficients (v, u) form two sets, by the parity of v + u. The estimator selects blocks
// by their energy in one set, and measures the noise level in the other set. Then the sets change
// roles. White noise is independent in the two sets.

namespace lull {
namespace {

/// Maximum number of clipped samples of a measured block.
constexpr int max_clipped_samples = 24;
/// The estimator measures the noise level in the DCT coefficients (v, u) with v + u >= `finest`,
/// because textures have the least energy at these frequencies.
constexpr int finest = 10;
/// Maximum mean energy of selected blocks, in units of the noise variance. The energy of a DCT
/// coefficient is its square.
constexpr double explained = 1.15;
constexpr int max_rounds = 8, max_clipped_rounds = 40;
constexpr double settled = 1e-3;  // relative change of the variance that ends the iteration
/// Variance at the highest frequencies in pictures without added noise: the square of 1.2, the
/// median standard deviation in the data sets Set12 and Kodak.
constexpr double own_variance = 1.2 * 1.2;

constexpr bool first_half(int k) { return (k / 8 + k % 8) % 2 == 1; }

/// Lower limit for the share of the noise variance that remains after clipping. The estimator
/// raises smaller computed shares to this limit.
constexpr double min_retained = 0.1;

/// Returns the share of the noise variance that clipping leaves in a block with the mean `mean` and
/// the noise level `sigma`.
double retained_share(double mean, double sigma, const ClipBounds& bounds) {
  const double low = clipped_gaussian((mean - static_cast<double>(bounds.low)) / sigma).variance;
  const double high = clipped_gaussian((static_cast<double>(bounds.high) - mean) / sigma).variance;
  return std::clamp(low * high, min_retained, 1.0);
}

/// Properties of a block. For each of the two sets of DCT coefficients, `energy` is the mean square
/// of all coefficients except (0, 0), and `fine` is the mean square of the coefficients (v, u) with
/// v + u >= 10. `mean` is the mean of the samples, and `share` is the result of retained_share().
struct Block {
  std::array<double, 2> energy{}, fine{};
  double mean = 0, share = 1;
};

std::vector<Block> blocks_of(std::span<const float> values, const PictureBlocks& blocks) {
  std::vector<Block> result;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks.clipped[b] > max_clipped_samples) continue;
    const float* c = &values[b * 64];
    Block block;
    std::array<int, 2> counts{}, fine_counts{};
    for (int k = 1; k < 64; ++k) {
      const int half = first_half(k) ? 0 : 1;
      const double energy = static_cast<double>(c[k]) * static_cast<double>(c[k]);
      block.energy[half] += energy;
      ++counts[half];
      if (k / 8 + k % 8 < finest) continue;
      block.fine[half] += energy;
      ++fine_counts[half];
    }
    for (int half = 0; half < 2; ++half) {
      block.energy[half] /= counts[half];
      block.fine[half] /= fine_counts[half];
    }
    block.mean = static_cast<double>(c[0]) / 8;
    result.push_back(block);
  }
  return result;
}

/// Selects the blocks whose energy is hardly above the energy of noise with the given variance, and
/// returns the variance of these blocks. If there are too few such blocks, returns the variance of
/// the flattest blocks.
double variance_of(const std::vector<Block>& blocks, double variance) {
  const std::size_t min_rank =
      std::min(blocks.size() - 1, std::max<std::size_t>(100, blocks.size() / 50));
  double sum = 0, weight = 0;
  for (const int half : {0, 1}) {
    std::vector<double> energies;
    energies.reserve(blocks.size());
    for (const Block& b : blocks) energies.push_back(b.energy[half] / b.share);
    std::nth_element(energies.begin(), energies.begin() + static_cast<std::ptrdiff_t>(min_rank),
                     energies.end());
    const double limit = std::max(energies[min_rank], explained * variance);
    for (const Block& b : blocks)
      if (b.energy[half] <= limit * b.share) sum += b.fine[1 - half], weight += b.share;
  }
  return weight > 0 ? sum / weight : 0;
}

/// Mean energies of the flattest blocks, which have the lowest energy in one of the two sets of
/// coefficients. `energy` is the mean energy of this set, and `fine` is the mean energy of the
/// finest coefficients of the other set.
struct FlattestBlocks {
  double energy = 0, fine = 0;
};

FlattestBlocks flattest(const std::vector<Block>& blocks, double share) {
  const std::size_t wanted = static_cast<std::size_t>(share * static_cast<double>(blocks.size()));
  const std::size_t last = std::min(blocks.size() - 1, std::max<std::size_t>(100, wanted));
  FlattestBlocks result;
  double weight = 0;
  for (const int half : {0, 1}) {
    std::vector<double> energies;
    energies.reserve(blocks.size());
    for (const Block& b : blocks) energies.push_back(b.energy[half] / b.share);
    std::nth_element(energies.begin(), energies.begin() + static_cast<std::ptrdiff_t>(last),
                     energies.end());
    for (const Block& b : blocks) {
      if (b.energy[half] > energies[last] * b.share) continue;
      result.energy += b.energy[half];
      result.fine += b.fine[1 - half];
      weight += b.share;
    }
  }
  return {result.energy / weight, result.fine / weight};
}

/// Subtracts the energy of texture from the measured variance, because even the flattest blocks
/// contain some texture. The function extrapolates this energy from two groups of flat blocks.
double without_texture(const std::vector<Block>& blocks, double variance) {
  constexpr double fewest = 0.005, few = 0.02;
  constexpr double same = 1.1;  // ratio of variances that sampling errors explain
  constexpr double max_slope = 0.5, min_rest = 0.5;
  const FlattestBlocks a = flattest(blocks, fewest), b = flattest(blocks, few);
  double least = a.fine;
  if (a.energy > explained * a.fine && b.energy > a.energy) {
    const double slope = std::clamp((b.fine - a.fine) / (b.energy - a.energy), 0.0, max_slope);
    least = std::max(min_rest * a.fine, (a.fine - slope * a.energy) / (1 - slope));
  }
  return variance > same * least ? least : variance;
}

/// Measures pictures in which nearly all blocks have clipped samples. Clipping makes the
/// coefficients of a block dependent on each other, so the class selects a block by the energy of
/// the surrounding blocks.
class ClippedBlocks {
 public:
  ClippedBlocks(std::span<const float> values, const PictureBlocks& blocks,
                const ClipBounds& bounds)
      : blocks_(blocks), bounds_(bounds), measured_(blocks.size()) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const float* c = &values[b * 64];
      MeasuredBlock& measured = measured_[b];
      measured.mean = static_cast<double>(c[0]) / 8;
      for (int k = 1; k < 64; ++k) {
        const double energy = static_cast<double>(c[k]) * static_cast<double>(c[k]);
        measured.energy += energy / 63;
        if (k / 8 + k % 8 >= finest) measured.fine += energy / fine_count;
      }
    }
  }

  /// Selects blocks for noise of the given variance, and returns the variance in these blocks.
  double remeasured(double variance) {
    const double sigma = std::sqrt(variance);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      measured_[b].retained = 0;
      if (blocks_.clipped[b] == PictureBlocks::unusable) continue;
      const double left = retained_share(measured_[b].mean, sigma, bounds_);
      if (left > min_retained) measured_[b].retained = left;
    }
    double sum = 0, weight = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (measured_[b].retained == 0 || !(around(b) <= explained * variance)) continue;
      sum += measured_[b].fine;
      weight += measured_[b].retained;
    }
    return weight > 0 ? sum / weight : variance;
  }

 private:
  struct MeasuredBlock {
    // `mean` is the mean of the samples. `energy` is the mean square of all DCT coefficients except
    // (0, 0). `fine` is the mean square of the DCT coefficients (v, u) with v + u >= 10.
    double mean = 0, energy = 0, fine = 0;
    double retained = 0;  // share of the noise variance after clipping; 0: not used
  };
  static constexpr int fine_count = [] {
    int count = 0;
    for (int k = 1; k < 64; ++k) count += k / 8 + k % 8 >= finest;
    return count;
  }();

  /// Returns an estimate of the noise variance from the blocks around block `b`, at most eight
  /// blocks. Returns infinity if fewer than three of these blocks are usable.
  double around(std::size_t b) const {
    const int reach = (PictureBlocks::side + blocks_.step - 1) / blocks_.step;
    const int at = static_cast<int>(b % (static_cast<std::size_t>(blocks_.columns) * blocks_.rows));
    const int x = at % blocks_.columns, y = at / blocks_.columns;
    double sum = 0, weight = 0;
    int count = 0;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) {
        const int u = x + i * reach, v = y + j * reach;
        if ((i == 0 && j == 0) || u < 0 || v < 0 || u >= blocks_.columns || v >= blocks_.rows)
          continue;
        const MeasuredBlock& next = measured_[b - at + v * blocks_.columns + u];
        if (next.retained == 0) continue;
        sum += next.energy;
        weight += next.retained;
        ++count;
      }
    return count >= 3 ? sum / weight : std::numeric_limits<double>::infinity();
  }

  const PictureBlocks& blocks_;
  ClipBounds bounds_;
  std::vector<MeasuredBlock> measured_;
};

/// Returns whether more than three quarters of the usable blocks have two or more clipped samples.
bool nearly_all_clipped(const PictureBlocks& blocks) {
  constexpr int hardly = 1;
  constexpr double few = 0.25;
  double usable = 0, left = 0;
  for (const std::uint8_t clipped : blocks.clipped) {
    if (clipped == PictureBlocks::unusable) continue;
    ++usable;
    left += clipped <= hardly;
  }
  return left < few * usable;
}

}  // namespace

float white_level(std::span<const float> values, const PictureBlocks& blocks,
                  const ClipBounds& bounds) {
  std::vector<Block> measured = blocks_of(values, blocks);
  if (measured.empty()) return 0;
  double variance = 0;
  for (int round = 0; round < max_rounds; ++round) {
    if (variance > 0) {
      const double sigma = std::sqrt(variance);
      for (Block& b : measured) b.share = retained_share(b.mean, sigma, bounds);
    }
    const double before = variance;
    variance = variance_of(measured, variance);
    if (std::abs(variance - before) <= settled * variance) break;
  }
  if (!nearly_all_clipped(blocks)) {
    variance = without_texture(measured, variance);
  } else if (variance > 0) {
    ClippedBlocks clipped(values, blocks, bounds);
    for (int round = 0; round < max_clipped_rounds; ++round) {
      const double before = variance;
      variance = clipped.remeasured(variance);
      if (std::abs(variance - before) <= settled * variance) break;
    }
  }
  return static_cast<float>(std::sqrt(std::max(0.0, variance - own_variance)));
}

}  // namespace lull
