#include "noise/stills/flat_block_spectrum.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "noise/stills/block_coefficients.h"
#include "noise/stills/flat_blocks.h"

namespace lull {
namespace {

constexpr int rounds = 3;
constexpr double measured_share = 0.05;   // share of a range's blocks that is measured
constexpr double few = 0.02, many = 0.2;  // shares of blocks that are compared
constexpr std::size_t min_blocks = 200;

/// Statistics that distinguish noise from texture (FlatBlockSpectrum). The statistics describe the
/// DCT coefficients (v, u) with v + u <= 6 in one of the two sets of coefficients (set_of()).
struct NoiseLikeness {
  double dispersion = 1, kurtosis = 3;
};

NoiseLikeness likeness_of(std::span<const float> values, std::span<const int> measured, int set,
                          const CoefficientTable& table) {
  std::array<double, 64> weights{};
  int coefficients = 0;
  for (int k = 1; k < 64; ++k)
    if (set_of(k) == set && k / 8 + k % 8 <= 6)
      weights[k] = 1 / static_cast<double>(table[k] + min_spectrum_variance), ++coefficients;
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

/// Returns the ratio >= 1 of the energies along the two axes, at low frequencies.
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

/// Mean squares of the coefficients of the flattest blocks in one range of brightness. `few`
/// contains the mean squares in the flattest 2 % of the blocks, `table` in the flattest 5 %, and
/// `many` in the flattest 20 %.
struct Range {
  CoefficientTable table{}, few{}, many{};
  std::array<NoiseLikeness, 2> likeness;  // one for each set

  double unevenness() const {
    return band_level(many, 3, 4) / std::max(1e-3, band_level(few, 3, 4));
  }
};

Range measured(std::span<const float> values, std::span<const int> members,
               const Energies& energies) {
  Range range;
  std::vector<int> ranked(members.begin(), members.end());
  for (int set = 0; set < 2; ++set) {
    rank(ranked, energies[set]);
    const std::span<const int> flattest = first_of(ranked, measured_share);
    measure_set(values, flattest, 1 - set, range.table);
    range.likeness[set] = likeness_of(values, flattest, 1 - set, range.table);
    measure_set(values, first_of(ranked, few), 1 - set, range.few);
    measure_set(values, first_of(ranked, many), 1 - set, range.many);
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
  const UsableBlocks usable = select_usable(blocks, min_blocks);
  FlatBlockSpectrum result;
  if (usable.count < min_blocks) return result;
  const std::vector<int> ordered = by_brightness(values, usable);
  result.found = true;
  result.table = median_spectrum(values, ordered);
  result.detail = detail_of(values, ordered);
  for (int round = 0; round < rounds; ++round) {
    const BlockPlane plane{values, result.table};
    const Energies energies = energies_around(std::span(&plane, 1), blocks, usable);
    std::vector<Range> found;
    for (int r = 0; r < brightness_ranges; ++r)
      found.push_back(measured(values, brightness_range(ordered, r), energies));
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
