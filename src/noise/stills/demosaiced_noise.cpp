#include "noise/stills/demosaiced_noise.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/colour.h"
#include "noise/stills/block_coefficients.h"
#include "noise/stills/flat_block_spectrum.h"

// A sensor measures R, G and B at different positions, with independent noise. The noise of a
// demosaiced picture therefore has three properties that distinguish the noise from texture, for
// any demosaicing and colour matrix.

// First property of the noise of demosaiced pictures: chroma noise is strong at all frequencies,
// whereas texture is mostly grey.

// Second property of the noise of demosaiced pictures: far below the mosaic's frequency, luma noise
// is at most 1 / sqrt(3) of chroma noise, because the colour matrix amplifies chroma.

// Third property of the noise of demosaiced pictures: the noise level changes slowly with
// brightness. If the measured level in one range of brightness is much higher than in the other
// ranges, this range contains texture.

// If every block contains texture, even the flattest blocks have a higher variance than the noise.
// The estimator recognises this texture by its luma: in demosaiced noise, the ratio of the luma
// variance to the chroma variance has a maximum, and texture exceeds the maximum. The estimator
// then reduces the measured variances.

namespace lull {
namespace {

constexpr std::size_t min_blocks = 200;
constexpr int rounds = 2;
constexpr double compared_share = 0.2;  // share of blocks with which the measured ones are compared

/// How measured_ranges() measures blocks.
struct Selection {
  int ranges;              // ranges of brightness
  double share;            // share of a range's blocks that is measured
  double min_noise_share;  // lower limit of noise_share()
};
constexpr Selection by_range{brightness_ranges, 0.05, 0.4}, in_all_blocks{1, 0.02, 0.65};

/// Bands of frequencies of the DCT coefficients (v, u). Each band has a lowest and a highest v + u.
constexpr int bands[6][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 14}};
constexpr int band_count = 6;

constexpr int band_of(int k) { return std::clamp((k / 8 + k % 8 - 1) / 2, 0, band_count - 1); }

/// Minimum ratios of chroma levels in demosaiced pictures. L(n) is the chroma level of the DCT
/// coefficients (v, u) with v + u = n. Simulated pictures have L(5..6) / L(1..2) >= 0.32, L(5..6) /
/// luma >= 0.59, and L(3..4) / L(7..8) >= 1.8 (docs/measurements/camera-noise.md).
constexpr double min_middle_share = 0.26, min_luma_share = 0.45, min_fall = 1.45;
/// Limit between Demosaicing::weak and Demosaicing::clear, for the chroma noise level of the DCT
/// coefficients (v, u) with v + u = 5 or 6. In clean photographs, this level is at most 1.1.
constexpr double min_level = 1.2;

/// Maximum ratio of luma noise to chroma noise at the lowest frequencies. Simulated pictures: 0.39
/// to 0.63.
constexpr double max_luma = 0.55;

/// Ratios of variances in the flattest blocks, at v + u = 3 and 4. The chroma variance is the
/// product of the levels of U and V.
struct VarianceRatios {
  double noise_luma;         // luma variance of noise, divided by its chroma variance
  double chroma_of_texture;  // chroma variance of texture, divided by its luma variance
};
constexpr VarianceRatios sharp_ratios{0.5, 0.4}, soft_ratios{1.0 / 3, 0.95};
/// Minimum share of noise in the measured variances, by the ratio of luma to chroma.
constexpr double min_share_by_luma = 0.25;
/// Part of the chroma variance at v + u = 3 and 4 that comes from colour fringes, as the sum for U
/// and V. The fringes make up at most 1 - `min_share_by_fringes` of the measured variance.
constexpr double fringe_variance = 6, min_share_by_fringes = 0.2;

/// Luma noise is soft (bilinear demosaicing) if its level at v + u = 7 and 8 is at most `soft_fall`
/// times its level at v + u = 3 and 4, and sharp if this ratio is at least `sharp_fall`.
constexpr double soft_fall = 0.4, sharp_fall = 0.5;

/// Assumed noise level of a developed picture as a function of the brightness v. The level is
/// proportional to (v + brightness_offset)^-brightness_exponent, within a factor of `tolerance`.
constexpr double brightness_offset = 20, brightness_exponent = 0.4, tolerance = 1.1;

/// Noise levels of three planes in each band of frequencies.
using BandLevels = std::array<std::array<double, band_count>, 3>;

/// The noise of one range of brightness.
struct Range {
  double brightness = 0;
  std::array<CoefficientTable, 3> tables{};
  /// For each pair of planes (YU, YV, UV), the mean product of their coefficients. Only the
  /// coefficients (v, u) with v + u >= 3 count.
  std::array<double, 3> products{};
  BandLevels levels{};
  double noise_share = 1;  // share of the measured variance to which all members are reduced
};

/// Sets Range::noise_share to `share`, and reduces the variances accordingly.
void reduce(Range& range, double share) {
  const double factor = share / range.noise_share;
  range.noise_share = share;
  for (CoefficientTable& table : range.tables)
    for (float& variance : table) variance *= static_cast<float>(factor);
  for (double& product : range.products) product *= factor;
  for (int i = 0; i < 3; ++i)
    for (int band = 0; band < band_count; ++band)
      range.levels[i][band] = band_level(range.tables[i], bands[band][0], bands[band][1]);
}

constexpr int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};

/// For each pair of planes, adds the mean product of their coefficients to `products`. Only one set
/// of coefficients counts (set_of()).
void add_products(const OpponentValues& values, std::span<const int> measured, int set,
                  std::array<double, 3>& products) {
  for (int p = 0; p < 3; ++p) {
    double sum = 0;
    for (const int b : measured) {
      const float* x = &values[pairs[p][0]][static_cast<std::size_t>(b) * 64];
      const float* y = &values[pairs[p][1]][static_cast<std::size_t>(b) * 64];
      for (int k = 1; k < 64; ++k)
        if (is_fine(k) && set_of(k) == set) sum += static_cast<double>(x[k] * y[k]);
    }
    products[p] += sum / static_cast<double>(measured.size());
  }
}

/// Returns the share of noise in the chroma variance. `few` contains the variances of a small set
/// of the flattest blocks, and `many` the variances of a larger set. If the larger set has a higher
/// variance, the difference comes from colour fringes, which are texture.
double noise_share(const std::array<CoefficientTable, 3>& few,
                   const std::array<CoefficientTable, 3>& many, double min_share) {
  constexpr double weight = 0.5;
  const double flattest = fine_energy(few[1]) + fine_energy(few[2]);
  const double other = fine_energy(many[1]) + fine_energy(many[2]);
  return std::clamp(1 - weight * (other / std::max(1e-9, flattest) - 1), min_share, 1.0);
}

/// Returns 0 for sharp luma noise, 1 for soft luma noise, and intermediate values between them.
double softness(const std::array<double, band_count>& luma) {
  const double fall = luma[3] / std::max(1e-9, luma[1]);
  return std::clamp((sharp_fall - fall) / (sharp_fall - soft_fall), 0.0, 1.0);
}

/// Returns the share of noise in the variances of the flattest blocks. The rest is texture. The
/// function solves two equations for the chroma variance of the noise: the measured luma variance
/// and the measured chroma variance are sums of noise and texture, with the ratios of
/// VarianceRatios.
double share_by_luma(const BandLevels& levels) {
  constexpr int middle = 1;
  const double luma = levels[0][middle], chroma = levels[1][middle] * levels[2][middle];
  const double soft = softness(levels[0]);
  const double of_noise = std::lerp(sharp_ratios.noise_luma, soft_ratios.noise_luma, soft);
  const double of_texture =
      std::lerp(sharp_ratios.chroma_of_texture, soft_ratios.chroma_of_texture, soft);
  const double measured = luma * luma / std::max(1e-9, chroma);
  return std::clamp((1 - of_texture * measured) / (1 - of_texture * of_noise), min_share_by_luma,
                    1.0);
}

/// Returns the share of noise in the chroma variance, after the subtraction of `fringe_variance`.
double share_by_fringes(const BandLevels& levels, double noise_share) {
  constexpr int middle = 1;
  const double u = levels[1][middle], v = levels[2][middle];
  const double measured = (u * u + v * v) / noise_share;
  return std::clamp(1 - fringe_variance / std::max(1e-9, measured), min_share_by_fringes, 1.0);
}

/// Reduces Range::noise_share to the product of share_by_luma() and share_by_fringes() if the
/// product is lower. The product and Range::noise_share describe the same texture, so only the
/// lower of the two applies.
void remove_texture(std::vector<Range>& ranges) {
  for (Range& range : ranges) {
    const double share =
        share_by_luma(range.levels) * share_by_fringes(range.levels, range.noise_share);
    reduce(range, std::min(range.noise_share, share));
  }
}

Range measured_range(const OpponentValues& values, std::span<const int> members,
                     const Energies& energies, const Selection& selection) {
  Range range;
  for (const int b : members)
    range.brightness += static_cast<double>(values[0][static_cast<std::size_t>(b) * 64]) / 8 /
                        static_cast<double>(members.size());
  std::vector<int> ranked(members.begin(), members.end());
  std::array<CoefficientTable, 3> many{};
  for (int set = 0; set < 2; ++set) {
    rank(ranked, energies[set]);
    const std::span<const int> flattest = first_of(ranked, selection.share);
    for (int i = 0; i < 3; ++i) measure_set(values[i], flattest, 1 - set, range.tables[i]);
    for (int i = 1; i < 3; ++i)
      measure_set(values[i], first_of(ranked, compared_share), 1 - set, many[i]);
    add_products(values, flattest, 1 - set, range.products);
  }
  reduce(range, noise_share(range.tables, many, selection.min_noise_share));
  return range;
}

/// Returns true if the picture cannot contain demosaiced noise, because the chroma spectrum falls
/// too steeply. The function divides the chroma level at v + u = 5 and 6 by the level at v + u = 1
/// and 2, for DCT coefficients (v, u). BlockPlane::spectrum must contain medians over all usable
/// blocks.
bool lacks_fine_chroma(const std::array<BlockPlane, 3>& planes) {
  constexpr double max_share = 0.6 * min_middle_share;
  double share = 1;
  for (int i = 1; i < 3; ++i)
    share *= band_level(planes[i].spectrum, bands[2][0], bands[2][1]) /
             std::max(1e-3, band_level(planes[i].spectrum, bands[0][0], bands[0][1]));
  return std::sqrt(share) < max_share;
}

/// Returns the noise of each range of brightness. Returns no ranges if the picture lacks the chroma
/// noise of demosaiced pictures.
std::vector<Range> measured_ranges(const OpponentValues& values, const PictureBlocks& blocks,
                                   const UsableBlocks& usable, const Selection& selection) {
  const std::vector<int> ordered = by_brightness(values[0], usable);
  std::array<BlockPlane, 3> planes;
  for (int i = 0; i < 3; ++i) planes[i] = {values[i], median_spectrum(values[i], ordered)};
  std::vector<Range> ranges;
  if (lacks_fine_chroma(planes)) return ranges;
  for (int round = 0; round < rounds; ++round) {
    const Energies energies = energies_around(planes, blocks, usable);
    ranges.clear();
    for (int r = 0; r < selection.ranges; ++r)
      ranges.push_back(measured_range(values, brightness_range(ordered, r, selection.ranges),
                                      energies, selection));
    for (int i = 0; i < 3; ++i)
      for (int k = 1; k < 64; ++k) {
        double sum = 0;
        for (const Range& range : ranges) sum += static_cast<double>(range.tables[i][k]);
        planes[i].spectrum[k] = static_cast<float>(sum / selection.ranges);
      }
  }
  return ranges;
}

/// Returns the maximum plausible ratio of the noise level in the range of brightness `at` to the
/// noise level in the range of brightness `from`.
double possible_level(const Range& at, const Range& from) {
  if (&at == &from) return 1;
  const double ratio = (std::max(0.0, from.brightness) + brightness_offset) /
                       (std::max(0.0, at.brightness) + brightness_offset);
  return tolerance * std::pow(ratio, brightness_exponent);
}

/// Returns the mean variances of all ranges of brightness. First, the function limits the noise
/// level of each range to the maximum that is plausible compared with the other ranges
/// (possible_level()). `agreement` receives the share of the measured chroma variance that remains
/// after the multiplication by Range::noise_share and after this limit.
std::array<CoefficientTable, 3> common_tables(const std::vector<Range>& ranges, double& agreement) {
  std::array<CoefficientTable, 3> tables{};
  double whole = 1e-9, kept = 1e-9;
  for (const Range& range : ranges)
    for (int i = 0; i < 3; ++i) {
      std::array<double, band_count> share;
      for (int band = 0; band < band_count; ++band) {
        const double own = std::max(1e-6, range.levels[i][band]);
        double level = own;
        for (const Range& other : ranges)
          level = std::min(level, other.levels[i][band] * possible_level(range, other));
        share[band] = level * level / (own * own);
        if (i > 0) whole += own * own / range.noise_share, kept += level * level;
      }
      for (int k = 1; k < 64; ++k)
        tables[i][k] += static_cast<float>(static_cast<double>(range.tables[i][k]) *
                                           share[band_of(k)] / static_cast<double>(ranges.size()));
    }
  agreement = kept / whole;
  return tables;
}

double mean_variance(const CoefficientTable& table) {
  double sum = 0;
  for (int k = 1; k < 64; ++k) sum += static_cast<double>(table[k]);
  return sum / 63;
}

/// Computes the noise levels of R, G and B from the variances and correlations of the noise of Y, U
/// and V.
std::array<float, 3> channel_levels(const std::vector<Range>& ranges,
                                    const std::array<CoefficientTable, 3>& tables) {
  std::array<double, 3> deviation, correlation{};
  for (int i = 0; i < 3; ++i) deviation[i] = std::sqrt(mean_variance(tables[i]));
  for (int p = 0; p < 3; ++p) {
    double product = 0, squares[2] = {1e-9, 1e-9};
    for (const Range& range : ranges) {
      product += range.products[p];
      for (int side = 0; side < 2; ++side)
        squares[side] += fine_energy(range.tables[pairs[p][side]]);
    }
    correlation[p] = std::clamp(product / std::sqrt(squares[0] * squares[1]), -0.95, 0.95);
  }
  std::array<float, 3> levels{};
  for (int c = 0; c < 3; ++c) {
    std::array<double, 3> part;
    double variance = 0;
    for (int i = 0; i < 3; ++i) {
      part[i] = static_cast<double>(opponent_inverse[c][i]) * deviation[i];
      variance += part[i] * part[i];
    }
    for (int p = 0; p < 3; ++p)
      variance += 2 * correlation[p] * part[pairs[p][0]] * part[pairs[p][1]];
    levels[c] = static_cast<float>(std::sqrt(std::max(0.0, variance)));
  }
  return levels;
}

BandLevels levels_of(const std::array<CoefficientTable, 3>& tables) {
  BandLevels levels{};
  for (int i = 0; i < 3; ++i)
    for (int band = 0; band < band_count; ++band)
      levels[i][band] = band_level(tables[i], bands[band][0], bands[band][1]);
  return levels;
}

Demosaicing demosaicing_of(const BandLevels& levels, double rounding) {
  const auto chroma = [&](int band) {
    const auto without_rounding = [&](double level) {
      return std::sqrt(std::max(1e-6, level * level - rounding));
    };
    return std::sqrt(without_rounding(levels[1][band]) * without_rounding(levels[2][band]));
  };
  const double middle = chroma(2);
  const bool similar = middle >= min_middle_share * chroma(0) &&
                       middle >= min_luma_share * levels[0][2] && chroma(1) >= min_fall * chroma(3);
  if (!similar) return Demosaicing::none;
  return middle >= min_level ? Demosaicing::clear : Demosaicing::weak;
}

/// Limits the luma noise in each band of frequencies. In the lowest band, the chroma noise is the
/// limit. In each higher band, the luma noise of the next lower band is the limit.
void limit_luma(const BandLevels& levels, CoefficientTable& luma) {
  const double lowest = std::min(levels[0][0], max_luma * std::sqrt(levels[1][0] * levels[2][0]));
  double above = lowest;  // level of the next band of lower frequencies
  for (int band = 0; band < band_count; ++band) {
    const double level = std::min(levels[0][band], above);
    const double share = level * level / std::max(1e-9, levels[0][band] * levels[0][band]);
    for (int k = 1; k < 64; ++k)
      if (band_of(k) == band) luma[k] = static_cast<float>(static_cast<double>(luma[k]) * share);
    above = level;
  }
}

/// Applies the limits of luma, and computes the noise levels of R, G and B.
void finish(const std::vector<Range>& ranges, DemosaicedNoise& noise) {
  limit_luma(levels_of(noise.tables), noise.tables[0]);
  noise.level = channel_levels(ranges, noise.tables);
  for (CoefficientTable& table : noise.tables) table[0] = std::max(table[1], table[8]);
}

}  // namespace

double fine_energy(const CoefficientTable& table) {
  double sum = 0;
  for (int k = 1; k < 64; ++k) sum += is_fine(k) ? static_cast<double>(table[k]) : 0;
  return sum;
}

UsableBlocks usable_developed_blocks(const PictureBlocks& blocks) {
  constexpr double min_share = 0.1;
  const double wanted = min_share * static_cast<double>(blocks.size());
  return select_usable(blocks, std::max(min_blocks, static_cast<std::size_t>(wanted)));
}

DemosaicedNoise demosaiced_noise(const OpponentValues& values, const PictureBlocks& blocks,
                                 const UsableBlocks& usable, double rounding) {
  if (usable.count < min_blocks) return {};
  std::vector<Range> ranges = measured_ranges(values, blocks, usable, by_range);
  if (ranges.empty()) return {};
  DemosaicedNoise noise;
  noise.tables = common_tables(ranges, noise.agreement);
  noise.found = demosaicing_of(levels_of(noise.tables), rounding);
  if (noise.found == Demosaicing::none) return noise;
  remove_texture(ranges);
  noise.tables = common_tables(ranges, noise.agreement);
  finish(ranges, noise);
  return noise;
}

DemosaicedNoise stabilised_noise(const OpponentValues& values, const PictureBlocks& blocks,
                                 const UsableBlocks& usable) {
  if (usable.count < min_blocks) return {};
  std::vector<Range> ranges = measured_ranges(values, blocks, usable, in_all_blocks);
  if (ranges.empty()) return {};
  remove_texture(ranges);
  DemosaicedNoise noise{.found = Demosaicing::clear};
  noise.tables = common_tables(ranges, noise.agreement);
  finish(ranges, noise);
  return noise;
}

}  // namespace lull
