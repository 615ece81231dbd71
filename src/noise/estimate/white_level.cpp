#include "noise/estimate/white_level.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

// Blocks are chosen by half of their coefficients and measured by the other half, and the other way
// round. White noise is independent from coefficient to coefficient, so that choosing quiet blocks
// makes no level too low; texture has its energy in both halves. As Liu, Tanaka, Okutomi 2013
// ("Single-image noise level estimation for blind denoising", doi:10.1109/TIP.2013.2283400) do with
// gradients, blocks are taken whose energy noise of the level so far explains, and the level is
// measured again.

namespace lull {
namespace {

/// Blocks with more clipped samples are not asked.
constexpr int most_clipped_samples = 24;
/// Measured are coefficients (v, u) with v + u from here on: textures have the least there.
constexpr int finest = 10;
/// Blocks are taken up to this mean energy of the choosing coefficients, in units of sigma^2.
constexpr double explained = 1.15;
constexpr int most_rounds = 8;
constexpr double settled = 1e-3;  // a change of variance that ends the rounds early
/// What pictures without noise hold at the finest frequencies of their quietest blocks: texture,
/// rounding, the grain of their scan. The median is 1.2 levels for the pictures of Set12 and Kodak.
constexpr double own_variance = 1.2 * 1.2;

constexpr bool first_half(int k) { return (k / 8 + k % 8) % 2 == 1; }

/// What white noise of a level becomes where samples are clipped.
class Clipping {
 public:
  Clipping(double sigma, const ClipBounds& bounds) {
    const double low = std::max(static_cast<double>(bounds.low), -1e4);
    const double high = std::min(static_cast<double>(bounds.high), 1e4);
    first_ = -3 * sigma;
    spacing_ = (255 - 2 * first_) / (intensities - 1);
    for (int i = 0; i < intensities; ++i) of(first_ + i * spacing_, sigma, low, high, i);
  }
  /// Its variance where samples have this mean, over sigma^2.
  double share(double mean) const {
    const auto place = std::lower_bound(means_.begin(), means_.end(), mean);
    return shares_[std::min<std::size_t>(place - means_.begin(), intensities - 1)];
  }

 private:
  /// Mean and variance of a normal distribution with clipped tails.
  void of(double centre, double sigma, double low, double high, int i) {
    const double a = (low - centre) / sigma, b = (high - centre) / sigma;
    const double below = cumulative(a), above = cumulative(-b), inside = 1 - below - above;
    const double first = density(a) - density(b);
    const double mean = inside * centre + sigma * first + low * below + high * above;
    const double la = low - mean, lb = high - mean, lc = centre - mean;
    const double variance = below * la * la + above * lb * lb + inside * (lc * lc + sigma * sigma) +
                            2 * lc * sigma * first +
                            sigma * sigma * (a * density(a) - b * density(b));
    means_[i] = mean;
    shares_[i] = std::clamp(variance / (sigma * sigma), 0.1, 1.0);
  }
  static double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
  static double cumulative(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

  static constexpr int intensities = 256;
  double first_, spacing_;
  std::array<double, intensities> means_{}, shares_{};
};

/// What is asked of a block: energies of the two halves and of the finest coefficients in them.
struct Block {
  std::array<double, 2> energy{}, fine{};  // means
  double mean = 0, share = 1;
};

std::vector<Block> blocks_of(std::span<const float> values, const PictureBlocks& blocks) {
  std::vector<Block> result;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks.clipped[b] > most_clipped_samples) continue;
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

/// The variance of blocks whose energy noise of `variance` explains, or of the quietest ones.
double variance_of(const std::vector<Block>& blocks, double variance) {
  const std::size_t least =
      std::min(blocks.size() - 1, std::max<std::size_t>(100, blocks.size() / 50));
  double sum = 0, weight = 0;
  for (const int half : {0, 1}) {
    std::vector<double> energies;
    energies.reserve(blocks.size());
    for (const Block& b : blocks) energies.push_back(b.energy[half] / b.share);
    std::nth_element(energies.begin(), energies.begin() + static_cast<std::ptrdiff_t>(least),
                     energies.end());
    const double limit = std::max(energies[least], explained * variance);
    for (const Block& b : blocks)
      if (b.energy[half] <= limit * b.share) sum += b.fine[1 - half], weight += b.share;
  }
  return weight > 0 ? sum / weight : 0;
}

}  // namespace

float white_level(std::span<const float> values, const PictureBlocks& blocks,
                  const ClipBounds& bounds) {
  std::vector<Block> asked = blocks_of(values, blocks);
  if (asked.empty()) return 0;
  double variance = 0;
  for (int round = 0; round < most_rounds; ++round) {
    if (variance > 0) {
      const Clipping clipping(std::sqrt(variance), bounds);
      for (Block& b : asked) b.share = clipping.share(b.mean);
    }
    const double before = variance;
    variance = variance_of(asked, variance);
    if (std::abs(variance - before) <= settled * variance) break;
  }
  return static_cast<float>(std::sqrt(std::max(0.0, variance - own_variance)));
}

}  // namespace lull
