#include "noise/estimate/white_level.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "noise/clipped_gaussian.h"

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
constexpr int most_rounds = 8, most_clipped_rounds = 40;
constexpr double settled = 1e-3;  // a change of variance that ends the rounds early
/// What pictures without noise hold at the finest frequencies of their quietest blocks: texture,
/// rounding, the grain of their scan. The median is 1.2 levels for the pictures of Set12 and Kodak.
constexpr double own_variance = 1.2 * 1.2;

constexpr bool first_half(int k) { return (k / 8 + k % 8) % 2 == 1; }

/// Where less is left of the noise's variance there is next to nothing to ask.
constexpr double least_left = 0.1;

/// What clipping leaves of the variance of noise of level `sigma` where samples have this mean.
double left_of(double mean, double sigma, const ClipBounds& bounds) {
  const double low = clipped_gaussian((mean - static_cast<double>(bounds.low)) / sigma).variance;
  const double high = clipped_gaussian((static_cast<double>(bounds.high) - mean) / sigma).variance;
  return std::clamp(low * high, least_left, 1.0);
}

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

/// Where nearly all blocks have clipped samples. Noise that is cut off on one side has a long tail
/// on the other: a block that is quiet in half of its coefficients is so in the other half. So
/// blocks are chosen by those around them, which share no sample with them.
class ClippedBlocks {
 public:
  ClippedBlocks(std::span<const float> values, const PictureBlocks& blocks,
                const ClipBounds& bounds)
      : blocks_(blocks), bounds_(bounds), asked_(blocks.size()) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const float* c = &values[b * 64];
      Asked& asked = asked_[b];
      asked.mean = static_cast<double>(c[0]) / 8;
      for (int k = 1; k < 64; ++k) {
        const double energy = static_cast<double>(c[k]) * static_cast<double>(c[k]);
        asked.energy += energy / 63;
        if (k / 8 + k % 8 >= finest) asked.fine += energy / fine_count;
      }
    }
  }

  /// The variance, for one that is near it.
  double measured_again(double variance) {
    const double sigma = std::sqrt(variance);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      asked_[b].left = 0;
      if (blocks_.clipped[b] == PictureBlocks::unusable) continue;
      const double left = left_of(asked_[b].mean, sigma, bounds_);
      if (left > least_left) asked_[b].left = left;
    }
    double sum = 0, weight = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (asked_[b].left == 0 || !(around(b) <= explained * variance)) continue;
      sum += asked_[b].fine;
      weight += asked_[b].left;
    }
    return weight > 0 ? sum / weight : variance;
  }

 private:
  struct Asked {
    double mean = 0, energy = 0, fine = 0;  // of all coefficients but the mean, and the finest
    double left = 0;                        // of the noise's variance; 0: is not asked
  };
  static constexpr int fine_count = [] {
    int count = 0;
    for (int k = 1; k < 64; ++k) count += k / 8 + k % 8 >= finest;
    return count;
  }();

  /// The variance that the blocks next to one say; infinite where there are less than three.
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
        const Asked& next = asked_[b - at + v * blocks_.columns + u];
        if (next.left == 0) continue;
        sum += next.energy;
        weight += next.left;
        ++count;
      }
    return count >= 3 ? sum / weight : std::numeric_limits<double>::infinity();
  }

  const PictureBlocks& blocks_;
  ClipBounds bounds_;
  std::vector<Asked> asked_;
};

/// Whether so few blocks are hardly clipped that the others have to be asked.
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
  std::vector<Block> asked = blocks_of(values, blocks);
  if (asked.empty()) return 0;
  double variance = 0;
  for (int round = 0; round < most_rounds; ++round) {
    if (variance > 0) {
      const double sigma = std::sqrt(variance);
      for (Block& b : asked) b.share = left_of(b.mean, sigma, bounds);
    }
    const double before = variance;
    variance = variance_of(asked, variance);
    if (std::abs(variance - before) <= settled * variance) break;
  }
  if (variance > 0 && nearly_all_clipped(blocks)) {
    ClippedBlocks clipped(values, blocks, bounds);
    for (int round = 0; round < most_clipped_rounds; ++round) {
      const double before = variance;
      variance = clipped.measured_again(variance);
      if (std::abs(variance - before) <= settled * variance) break;
    }
  }
  return static_cast<float>(std::sqrt(std::max(0.0, variance - own_variance)));
}

}  // namespace lull
