#include "noise/estimate/flat_block_spectrum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "noise/estimate/block_coefficients.h"

// The coefficients of a block form two sets, (v + u) odd and even, as on a checkerboard. Blocks are
// ranked by the energy in and around them in one set, and the noise is measured in the other set,
// and vice versa. Selection and measurement are thus nearly independent, which avoids bias. Each
// energy is divided by the variance of its coefficient in the current spectrum.

namespace lull {
namespace {

constexpr int ranges = 6;  // ranges of brightness, with equal numbers of blocks
constexpr int rounds = 3;
constexpr double measured_share = 0.05;   // share of a range's blocks that is measured
constexpr double few = 0.02, many = 0.2;  // shares of a range's blocks whose levels are compared
constexpr std::size_t min_measured = 40;  // minimum number of measured blocks of a range
constexpr std::size_t min_blocks = 200;
constexpr double max_energy = 30;  // limit of a coefficient's energy, in units of its variance
constexpr float min_variance = 1e-3f;

/// Limits of the number of clipped samples of a block, from strict to tolerant. If too few blocks
/// satisfy a limit, the next limit is used.
constexpr std::array<int, 3> max_clipped{1, 8, 24};

// For each set of coefficients: one energy per block.
using Energies = std::array<std::vector<float>, 2>;

/// The usable blocks, as a flag for each block and as their number.
struct UsableBlocks {
  std::vector<char> is;
  std::size_t count = 0;
};

UsableBlocks select_usable(const PictureBlocks& blocks) {
  UsableBlocks usable;
  for (const int maximum : max_clipped) {
    usable = {std::vector<char>(blocks.size()), 0};
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      usable.is[b] = blocks.clipped[b] <= maximum;
      usable.count += usable.is[b] != 0;
    }
    if (usable.count >= min_blocks) break;
  }
  return usable;
}

/// Returns the initial spectrum, which is estimated from the medians of the squared coefficients
/// over all blocks.
CoefficientTable first_guess(std::span<const float> values, const std::vector<int>& usable) {
  constexpr float median_of_square = 0.455f;  // median of the square of a standard normal value
  CoefficientTable table{};
  std::vector<float> squares(usable.size());
  for (int k = 1; k < 64; ++k) {
    for (std::size_t i = 0; i < usable.size(); ++i) {
      const float c = values[static_cast<std::size_t>(usable[i]) * 64 + k];
      squares[i] = c * c;
    }
    const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
    std::nth_element(squares.begin(), middle, squares.end());
    table[k] = *middle / median_of_square;
  }
  return table;
}

/// Returns, for each block of a picture, the mean of `own` over the block and the blocks around it,
/// in a square of about 20 samples.
std::vector<float> around(const std::vector<float>& own, const PictureBlocks& blocks,
                          const UsableBlocks& usable) {
  const int radius = std::max(1, 6 / blocks.step);
  std::vector<float> means(own.size());
  const int columns = blocks.columns, rows = blocks.rows;
  for (std::size_t first = 0; first < own.size(); first += std::size_t(columns) * rows)
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        double sum = 0;
        int count = 0;
        for (int j = std::max(0, y - radius); j <= std::min(rows - 1, y + radius); ++j)
          for (int i = std::max(0, x - radius); i <= std::min(columns - 1, x + radius); ++i) {
            const std::size_t b = first + static_cast<std::size_t>(j) * columns + i;
            if (usable.is[b]) sum += static_cast<double>(own[b]), ++count;
          }
        means[first + static_cast<std::size_t>(y) * columns + x] =
            count > 0 ? static_cast<float>(sum / count) : 0;
      }
  return means;
}

Energies energies(std::span<const float> values, const PictureBlocks& blocks,
                  const UsableBlocks& usable, const CoefficientTable& spectrum) {
  std::array<std::array<float, 64>, 2> weights{};
  for (int k = 1; k < 64; ++k) weights[set_of(k)][k] = 1 / (spectrum[k] + min_variance);
  Energies result;
  for (int set = 0; set < 2; ++set) {
    std::vector<float> own(blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (!usable.is[b]) continue;
      const float* c = &values[b * 64];
      float sum = 0;
      for (int k = 0; k < 64; ++k)
        sum += std::min(c[k] * c[k] * weights[set][k], static_cast<float>(max_energy));
      own[b] = sum;
    }
    result[set] = around(own, blocks, usable);
  }
  return result;
}

/// Returns the first `share` of the blocks in `ranked`, but at least `min_measured` of them.
std::span<const int> first_of(std::span<const int> ranked, double share) {
  const std::size_t wanted = static_cast<std::size_t>(share * static_cast<double>(ranked.size()));
  return ranked.first(std::min(ranked.size(), std::max(min_measured, wanted)));
}

/// Computes the mean squares of the coefficients of one set over the blocks `measured`, and writes
/// them to `table`.
void measure(std::span<const float> values, std::span<const int> measured, int set,
             CoefficientTable& table) {
  std::array<double, 64> sums{};
  for (const int b : measured) {
    const float* c = &values[static_cast<std::size_t>(b) * 64];
    for (int k = 0; k < 64; ++k) sums[k] += static_cast<double>(c[k] * c[k]);
  }
  for (int k = 1; k < 64; ++k)
    if (set_of(k) == set)
      table[k] = static_cast<float>(sums[k] / static_cast<double>(measured.size()));
}

/// Properties that show how similar the coefficients of blocks are to those of noise
/// (FlatBlockSpectrum). They are measured in the coarser half of the coefficients of one set.
struct NoiseLikeness {
  double dispersion = 1, kurtosis = 3;
};

NoiseLikeness likeness_of(std::span<const float> values, std::span<const int> measured, int set,
                          const CoefficientTable& table) {
  std::array<double, 64> weights{};
  int coefficients = 0;
  for (int k = 1; k < 64; ++k)
    if (set_of(k) == set && k / 8 + k % 8 <= 6)
      weights[k] = 1 / static_cast<double>(table[k] + min_variance), ++coefficients;
  double mean = 0, square = 0, fourth = 0;
  for (const int b : measured) {
    double energy = 0;
    for (int k = 1; k < 64; ++k) {
      const double c = static_cast<double>(values[static_cast<std::size_t>(b) * 64 + k]);
      const double power = c * c * weights[k];
      energy += power;
      fourth += power * power;
    }
    mean += energy;
    square += energy * energy;
  }
  const double blocks = static_cast<double>(measured.size());
  mean = std::max(1e-9, mean / blocks);
  const double of_power = mean / coefficients;
  return {.dispersion = (square / blocks / (mean * mean) - 1) * coefficients / 2,
          .kurtosis = fourth / (blocks * coefficients) / (of_power * of_power)};
}

/// Returns the ratio of the energies along the two axes at coarse frequencies, at least 1.
double direction_of(const CoefficientTable& table) {
  double along[2] = {1e-9, 1e-9};
  for (int v = 0; v < 8; ++v)
    for (int u = 0; u < 8; ++u)
      if (v != u && v + u <= 5) along[v > u] += static_cast<double>(table[v * 8 + u]);
  return std::max(along[0] / along[1], along[1] / along[0]);
}

double detail_of(std::span<const float> values, const std::vector<int>& usable) {
  double sum = 0;
  int count = 0;
  for (int k = 1; k < 64; ++k) {
    if (k / 8 + k % 8 < 7) continue;
    ++count;
    for (const int b : usable) {
      const float c = values[static_cast<std::size_t>(b) * 64 + k];
      sum += static_cast<double>(c * c);
    }
  }
  return std::sqrt(sum / count / static_cast<double>(usable.size()));
}

/// The measurements in one range of brightness. The tables `few`, `table` and `many` are measured
/// in different shares of the blocks of the range, beginning with the flattest blocks.
struct Range {
  CoefficientTable table{}, few{}, many{};
  std::array<NoiseLikeness, 2> likeness;  // one for each set of coefficients

  double unevenness() const {
    return band_level(many, 3, 4) / std::max(1e-3, band_level(few, 3, 4));
  }
};

Range measured(std::span<const float> values, std::span<const int> members,
               const Energies& energies) {
  Range range;
  std::vector<int> ranked(members.begin(), members.end());
  for (int set = 0; set < 2; ++set) {
    const std::vector<float>& energy = energies[set];
    std::sort(ranked.begin(), ranked.end(),
              [&](int a, int b) { return energy[a] != energy[b] ? energy[a] < energy[b] : a < b; });
    const std::span<const int> flattest = first_of(ranked, measured_share);
    measure(values, flattest, 1 - set, range.table);
    range.likeness[set] = likeness_of(values, flattest, 1 - set, range.table);
    measure(values, first_of(ranked, few), 1 - set, range.few);
    measure(values, first_of(ranked, many), 1 - set, range.many);
  }
  return range;
}

}  // namespace

double band_level(const CoefficientTable& table, int first, int last) {
  double sum = 0;
  int count = 0;
  for (int k = 1; k < 64; ++k)
    if (k / 8 + k % 8 >= first && k / 8 + k % 8 <= last)
      sum += static_cast<double>(table[k]), ++count;
  return std::sqrt(sum / count);
}

FlatBlockSpectrum flat_block_spectrum(std::span<const float> values, const PictureBlocks& blocks) {
  const UsableBlocks usable = select_usable(blocks);
  FlatBlockSpectrum result;
  if (usable.count < min_blocks) return result;
  std::vector<int> ordered;  // indices of the usable blocks, sorted by brightness
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (usable.is[b]) ordered.push_back(static_cast<int>(b));
  result.found = true;
  result.table = first_guess(values, ordered);
  result.detail = detail_of(values, ordered);
  std::sort(ordered.begin(), ordered.end(), [&](int a, int b) {
    const float p = values[static_cast<std::size_t>(a) * 64];
    const float q = values[static_cast<std::size_t>(b) * 64];
    return p != q ? p < q : a < b;
  });
  for (int round = 0; round < rounds; ++round) {
    const Energies around_blocks = energies(values, blocks, usable, result.table);
    std::vector<Range> found;
    for (int r = 0; r < ranges; ++r) {
      const std::size_t begin = ordered.size() * r / ranges,
                        end = ordered.size() * (r + 1) / ranges;
      found.push_back(
          measured(values, std::span(ordered).subspan(begin, end - begin), around_blocks));
    }
    std::stable_sort(found.begin(), found.end(), [](const Range& a, const Range& b) {
      return band_level(a.table, 1, 2) < band_level(b.table, 1, 2);
    });
    for (int k = 1; k < 64; ++k) result.table[k] = (found[0].table[k] + found[1].table[k]) / 2;
    std::tie(result.unevenness, result.greater_unevenness) =
        std::minmax({found[0].unevenness(), found[1].unevenness()});
    result.dispersion = result.kurtosis = result.direction = 0;
    for (const Range& range : std::span(found).first(2)) {
      result.direction = std::max(result.direction, direction_of(range.table));
      for (const NoiseLikeness& likeness : range.likeness) {
        result.dispersion = std::max(result.dispersion, likeness.dispersion);
        result.kurtosis = std::max(result.kurtosis, likeness.kurtosis);
      }
    }
  }
  return result;
}

}  // namespace lull
