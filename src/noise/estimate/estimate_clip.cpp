#include "noise/estimate/estimate_clip.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/colour.h"
#include "noise/estimate/clip_blocks.h"
#include "noise/estimate/clip_checks.h"
#include "noise/estimate/clip_motion.h"
#include "noise/estimate/clip_table.h"
#include "noise/estimate/excerpt_measurement.h"
#include "noise/estimate/lit_areas.h"

namespace lull {
namespace {

/// `wanted_blocks` is the approximate number of compared blocks. The distance between the large
/// blocks of the motion search is `small_cell` samples. In frames with more than `large_frame`
/// samples, this distance is `large_cell` samples.
constexpr int wanted_blocks = 1200;
constexpr int small_cell = 32, large_cell = 96, large_frame = 1 << 20;
/// Maximum share of the blocks of a frame that may be copies from the previous frame. If all
/// excerpts exceed `max_copied_share`, as in still clips without noise, the limit is
/// `max_copied_share_at_last`.
constexpr double max_copied_share = 0.6, max_copied_share_at_last = 0.95;
/// Minimum variance of a frame difference, relative to the maximum variance in the excerpt. If the
/// variance is smaller, the encoder has copied the first frame, with its noise, to the second
/// frame.
constexpr float min_excerpt_share = 0.25f;
/// Minimum noise level. A lower level counts as no noise. Rounding to 8 bits has the noise level
/// 0.29.
constexpr float min_level = 0.5f;

/// The differences between the blocks of two frames, in each plane.
struct Pair {
  std::array<std::vector<ClipDifference>, 3> planes;
  float ring_level = 0;  // lower quartile of ClipDifference::ring_energy in the first plane
};

int step_for(const FrameFormat& format) {
  const double area = static_cast<double>(format.width) * format.height;
  // The stride of the blocks is an odd number of samples, so that the blocks lie at all offsets
  // relative to the block grid of a codec.
  return std::max(5, static_cast<int>(std::sqrt(area / wanted_blocks)) | 1);
}

float ring_level_of(const std::vector<ClipDifference>& blocks) {
  std::vector<float> around;
  for (const ClipDifference& b : blocks)
    if (b.valid && !b.copied && !b.constant) around.push_back(b.ring_energy);
  if (around.empty()) return 0;
  const auto place = around.begin() + static_cast<std::ptrdiff_t>(around.size() / 4);
  std::ranges::nth_element(around, place);
  return *place;
}

bool repeats(const std::vector<ClipDifference>& blocks, double max_copied) {
  int copied = 0, all = 0;
  for (const ClipDifference& b : blocks) {
    if (!b.valid || b.constant) continue;
    ++all;
    copied += b.copied;
  }
  return copied > max_copied * all;
}

/// Compares the blocks of two frames. Returns std::nullopt if the frames are unsuitable for a noise
/// measurement.
std::optional<Pair> compare(const Frame& a, const Frame& b, const ClipLuma& luma_a,
                            const ClipLuma& luma_b, double max_copied) {
  if (!is_same_scene(luma_a, luma_b)) return std::nullopt;
  const FrameFormat& format = a.format;
  const bool large = static_cast<std::int64_t>(format.width) * format.height > large_frame;
  const ClipMotion motion(luma_a, luma_b, large ? large_cell : small_cell);
  const ClipRange range = range_of(a, luma_a);
  const ClipBlocks blocks(a, b, range);
  const int step = step_for(format);
  Pair pair;
  for (int y = clip_margin; y + clip_block + clip_margin <= format.height; y += step)
    for (int x = clip_margin; x + clip_block + clip_margin <= format.width; x += step) {
      const ClipVector v = motion.of_block(x, y);
      for (int i = 0; i < format.planes(); ++i) {
        pair.planes[i].push_back(blocks.at(i, x, y, v));
        pair.planes[i].back().luma = pair.planes[0].back().brightness;
      }
    }
  if (repeats(pair.planes[0], max_copied)) return std::nullopt;
  pair.ring_level = ring_level_of(pair.planes[0]);
  return pair;
}

/// Returns, for each of the planes Y, U and V, how much of the noise variance comes from R, G and
/// B.
std::array<ChannelShares, 3> shares_of(const Tables& tables) {
  std::array<float, 3> of_plane{}, of_channel{};
  for (int i = 0; i < 3; ++i)
    if (tables[i]) of_plane[i] = mean_variance(*tables[i]);
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 3; ++i)
      of_channel[c] += opponent_inverse[c][i] * opponent_inverse[c][i] * of_plane[i];
  std::array<ChannelShares, 3> shares;
  for (int i = 0; i < 3; ++i) {
    if (of_plane[i] == 0) continue;
    float all = 0;
    for (int c = 0; c < 3; ++c) {
      shares[i].variance[c] = of_channel[c] / of_plane[i];
      shares[i].weight[c] = opponent_forward[i][c] * opponent_forward[i][c] * of_channel[c];
      all += shares[i].weight[c];
    }
    for (float& weight : shares[i].weight) weight /= all;
  }
  return shares;
}

ExcerptMeasurement measure_excerpt(const Excerpt& excerpt, double max_copied) {
  std::vector<Pair> pairs;
  std::vector<ClipLuma> lumas;
  for (const Frame& frame : excerpt) lumas.emplace_back(frame);
  for (std::size_t i = 0; i + 1 < excerpt.size(); ++i)
    if (auto pair = compare(excerpt[i], excerpt[i + 1], lumas[i], lumas[i + 1], max_copied))
      pairs.push_back(*std::move(pair));
  float noisiest = 0;
  for (const Pair& pair : pairs) noisiest = std::max(noisiest, pair.ring_level);
  std::erase_if(pairs, [&](const Pair& p) { return p.ring_level < min_excerpt_share * noisiest; });
  ExcerptMeasurement measured;
  for (int i = 0; i < 3; ++i) {
    std::vector<ClipDifference>& all = measured.all[i];
    for (const Pair& pair : pairs)
      all.insert(all.end(), pair.planes[i].begin(), pair.planes[i].end());
    measured.blocks[i] = select_blocks(all);
  }
  const bool is_rgb = !excerpt.empty() && excerpt.front().format.layout == Layout::rgb;
  if (is_rgb)
    for (int i = 0; i < 3; ++i) measured.tables[i] = clipped_variances_of(measured.blocks[i]);
  // The loop alternately computes the shares of R, G and B and the noise variances, because the
  // shares and the variances depend on each other.
  const int rounds = is_rgb ? 3 : 1;
  for (int round = 0; round < rounds; ++round) {
    if (is_rgb) measured.shares = shares_of(measured.tables);
    for (int i = 0; i < 3; ++i)
      measured.tables[i] = variances_of(measured.blocks[i], measured.shares[i]);
  }
  return measured;
}

/// Combines the noise variances of all excerpts. The result has the median noise level of the
/// excerpts. Its spectrum is the mean of the spectra of the excerpts, without outliers.
CoefficientTable combine(const std::vector<CoefficientTable>& excerpts) {
  CoefficientTable all{};
  std::vector<float> variances;
  for (const CoefficientTable& table : excerpts) variances.push_back(mean_variance(table));
  if (variances.empty()) return all;
  const float middle = median_of(variances);
  float count = 0;
  for (std::size_t i = 0; i < excerpts.size(); ++i) {
    if (variances[i] > 9 * middle || 9 * variances[i] < middle || variances[i] == 0) continue;
    ++count;
    for (int k = 0; k < 64; ++k) all[k] += excerpts[i][k] / variances[i];
  }
  for (float& v : all) v *= count > 0 ? middle / count : 0;
  return all;
}

constexpr int band_of(int k) {
  const int frequency = k / 8 + k % 8;
  return frequency == 0 ? 3 : frequency < 3 ? 0 : frequency < 7 ? 1 : 2;
}

/// Returns the mean noise variances in three bands: low, middle and high frequencies.
std::array<double, 3> bands_of(const CoefficientTable& variances) {
  std::array<double, 4> sums{}, counts{};
  for (int k = 0; k < 64; ++k) {
    sums[band_of(k)] += static_cast<double>(variances[k]);
    ++counts[band_of(k)];
  }
  return {sums[0] / counts[0], sums[1] / counts[1], sums[2] / counts[2]};
}

/// Returns the noise curve of luma, or null if the standard deviations in the curve differ by less
/// than a factor of 1.5. An unnecessary curve would reduce the PSNR by up to 0.3 dB.
std::shared_ptr<const NoiseCurve> curve_of(const std::vector<ExcerptMeasurement>& excerpts) {
  constexpr int bins = 8;
  constexpr double min_count = 60, min_ratio = 2.25;
  std::array<double, bins> sums{}, counts{}, brightness{};
  for (const ExcerptMeasurement& excerpt : excerpts) {
    if (!excerpt.tables[0]) continue;
    const double level = static_cast<double>(mean_variance(*excerpt.tables[0]));
    for (const ClipDifference& b : excerpt.blocks[0]) {
      const double relative = static_cast<double>(mean_variance(b.energy) / b.retained) / level;
      if (!(relative < 6)) continue;
      const int bin = std::clamp(static_cast<int>(b.brightness * bins / 256), 0, bins - 1);
      sums[bin] += relative;
      brightness[bin] += static_cast<double>(b.brightness);
      ++counts[bin];
    }
  }
  std::vector<std::pair<float, float>> points;  // brightness, standard deviation
  double minimum = 1e9, maximum = 0;
  for (int bin = 0; bin < bins; ++bin) {
    if (counts[bin] < min_count) continue;
    const double variance = sums[bin] / counts[bin];
    minimum = std::min(minimum, variance), maximum = std::max(maximum, variance);
    points.emplace_back(static_cast<float>(brightness[bin] / counts[bin]),
                        static_cast<float>(std::sqrt(variance)));
  }
  if (points.size() < 3 || minimum <= 0 || maximum < min_ratio * minimum) return nullptr;
  auto curve = std::make_shared<NoiseCurve>();
  for (int i = 0; i < NoiseCurve::knots; ++i) {
    const float at = static_cast<float>(i) * NoiseCurve::spacing;
    std::size_t next = 0;
    while (next < points.size() && points[next].first < at) ++next;
    if (next == 0 || next == points.size()) {
      curve->sigma[i] = points[next == 0 ? 0 : next - 1].second;
      continue;
    }
    const auto [x0, y0] = points[next - 1];
    const auto [x1, y1] = points[next];
    curve->sigma[i] = std::lerp(y0, y1, (at - x0) / (x1 - x0));
  }
  return curve;
}

/// Copies the selection criteria of a luma block to the chroma block at the same position, because
/// a selection by the chroma block's own criteria would prefer colours with little noise.
ClipDifference chosen_by(const ClipDifference& luma, ClipDifference block) {
  block.valid = block.valid && luma.valid && !luma.copied;
  block.texture = luma.texture;
  block.ring_energy = luma.ring_energy;
  block.brightness = luma.brightness;
  return block;
}

/// The blocks in one range of luma. `around` contains one value for each block: the mean square of
/// the residual in the samples around the block (ClipDifference::ring_energy), in the measured
/// plane.
struct LumaRange {
  std::vector<ClipDifference> blocks;
  std::vector<float> around;

  /// Removes blocks that repeat the chroma noise of the previous frame. Luma does not reveal such
  /// blocks.
  void drop_repeated() {
    if (blocks.empty()) return;
    const float minimum = min_excerpt_share * median_of(around);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (around[i] >= minimum) blocks[kept++] = blocks[i];
    blocks.resize(kept);
  }
};

/// Returns the noise levels of a plane in 16 ranges of luma.
std::vector<LevelAtLuma> levels_by_luma(const std::vector<ExcerptMeasurement>& excerpts,
                                        int plane) {
  constexpr int ranges = 16;
  constexpr std::size_t min_blocks = 30, enough_blocks = 60;
  std::array<LumaRange, ranges> by_range;
  ChannelShares shares;
  for (const ExcerptMeasurement& excerpt : excerpts) {
    if (!excerpt.tables[plane]) continue;
    shares = excerpt.shares[plane];
    for (std::size_t i = 0; i < excerpt.all[plane].size(); ++i) {
      const ClipDifference block = chosen_by(excerpt.all[0][i], excerpt.all[plane][i]);
      if (!block.valid) continue;
      const int range = std::clamp(static_cast<int>(block.luma * ranges / 256), 0, ranges - 1);
      by_range[range].blocks.push_back(block);
      by_range[range].around.push_back(excerpt.all[plane][i].ring_energy);
    }
  }
  std::vector<LevelAtLuma> levels;
  std::vector<ClipDifference> gathered;  // blocks of adjacent ranges, as many ranges as needed
  for (int range = 0; range < ranges; ++range) {
    if (plane > 0) by_range[range].drop_repeated();
    const std::vector<ClipDifference>& blocks = by_range[range].blocks;
    gathered.insert(gathered.end(), blocks.begin(), blocks.end());
    std::vector<ClipDifference> selected = select_blocks(gathered);
    const bool is_last = range + 1 == ranges;
    if (selected.size() < (is_last ? min_blocks : enough_blocks)) continue;
    gathered.clear();
    // `variance` is the mean variance of all coefficients, including (0, 0). If the low frequencies
    // of the noise are strong, coefficient (0, 0) contains most of the energy.
    double variance = 0, luma = 0;
    const auto variances = variances_of(selected, shares);  // not empty: there are enough blocks
    for (const float v : variances.value()) variance += static_cast<double>(v) / 64;
    for (const ClipDifference& block : selected) luma += static_cast<double>(block.luma);
    levels.push_back({static_cast<float>(luma / static_cast<double>(selected.size())),
                      static_cast<float>(std::sqrt(variance))});
  }
  return levels;
}

bool is_rgb(std::span<const Excerpt> excerpts) {
  return std::ranges::any_of(excerpts, [](const Excerpt& excerpt) {
    return !excerpt.empty() && excerpt.front().format.layout == Layout::rgb;
  });
}

bool too_small(const FrameFormat& format, int plane) {
  return std::min(format.plane_width(plane), format.plane_height(plane)) < 2 * clip_window;
}

}  // namespace

ClipMeasurement measure_clip(std::span<const Excerpt> excerpts) {
  ClipMeasurement measured;
  measured.from_fields = are_interlaced(excerpts);
  std::vector<ExcerptMeasurement> parts;
  for (const double max_copied : {max_copied_share, max_copied_share_at_last}) {
    parts.clear();
    for (const Excerpt& excerpt : excerpts)
      parts.push_back(
          measure_excerpt(measured.from_fields ? top_fields(excerpt) : excerpt, max_copied));
    const auto says = [](const ExcerptMeasurement& part) { return part.tables[0].has_value(); };
    if (std::ranges::any_of(parts, says)) break;
  }
  if (!is_rgb(excerpts)) {
    const DarkAreas dark = exclude_dark_areas(parts);
    measured.has_dark_areas = dark.are_large;
    measured.share_in_all_areas = dark.share_in_all_areas;
  }
  for (int i = 0; i < 3; ++i) {
    std::vector<CoefficientTable> tables;
    for (const ExcerptMeasurement& part : parts)
      if (part.tables[i]) tables.push_back(*part.tables[i]);
    measured.tables[i] = combine(tables);
    if (i == 0) measured.found = !tables.empty();
  }
  if (!measured.found) return measured;
  for (const ExcerptMeasurement& part : parts)
    measured.excerpt_level.push_back(part.tables[0] ? std::sqrt(mean_variance(*part.tables[0]))
                                                    : 0);
  const auto first =
      std::ranges::find_if(excerpts, [](const Excerpt& excerpt) { return !excerpt.empty(); });
  const FrameFormat& format = first->front().format;
  for (int i = 1; i < format.planes(); ++i)
    if (too_small(format, i)) measured.tables[i] = measured.tables[0];
  for (int i = 0; i < 3; ++i) measured.level[i] = std::sqrt(mean_variance(measured.tables[i]));
  for (int i = 0; i < format.planes(); ++i)
    if (!too_small(format, i)) measured.by_luma[i] = levels_by_luma(parts, i);
  auto curve = curve_of(parts);
  if (curve) {
    auto scaled = std::make_shared<NoiseCurve>(*curve);
    for (float& sigma : scaled->sigma) sigma *= measured.level[0];
    measured.curve = std::move(scaled);
  }
  return measured;
}

bool counts_as_white(const CoefficientTable& variances) {
  const auto [low, middle, high] = bands_of(variances);
  // The measured spectrum of white noise is not exactly flat, because motion raises its low
  // frequencies, and codecs reduce its low and high frequencies. Noise with a nearly flat spectrum
  // therefore counts as white.
  return low > 0.6 * middle && low < 1.5 * middle && high > 0.75 * middle && high < 1.25 * middle;
}

NoiseEstimate estimate_of(const ClipMeasurement& measured, Layout layout) {
  NoiseEstimate estimate;
  estimate.has_dark_areas = measured.has_dark_areas;
  estimate.share_in_all_areas = measured.share_in_all_areas;
  std::array<PlaneNoise, 3> planes;
  const int count = layout == Layout::gray ? 1 : 3;
  for (int i = 0; i < count; ++i) {
    if (measured.level[i] < min_level) continue;
    if (counts_as_white(measured.tables[i])) {
      const auto bands = bands_of(measured.tables[i]);
      planes[i].sigma = static_cast<float>(std::sqrt(std::min(bands[1], bands[2])));
    } else {
      planes[i] = noise_of(measured.tables[i]);
    }
  }
  if (layout == Layout::rgb) {
    estimate.noise = NoiseModel::of_opponents(planes);
  } else {
    for (int i = 0; i < count; ++i) estimate.noise.plane(i) = planes[i];
  }
  estimate.level = estimate.noise.sigmas();
  // The mean of an 8x8 block is its coefficient (0, 0), divided by 8.
  const float mean = planes[0].sigma == 0 ? 0 : measured.tables[0][0];
  estimate.coarse = planes[0].is_white() ? planes[0].sigma / 8 : std::sqrt(mean) / 8;
  return estimate;
}

}  // namespace lull
