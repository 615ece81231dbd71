#include "noise/estimate/estimate_clip.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/colour.h"
#include "noise/estimate/clip_blocks.h"
#include "noise/estimate/clip_look.h"
#include "noise/estimate/clip_motion.h"
#include "noise/estimate/clip_table.h"

namespace lull {
namespace {

/// Blocks looked at between two frames; cells of motion in small and in large frames.
constexpr int wanted_blocks = 1200;
constexpr int small_cell = 32, large_cell = 96, large_frame = 1 << 20;
/// More of the blocks than this copied: the frame repeats the one before. If all do, as in clips
/// without noise of which most stands still, what little moves has to do.
constexpr double most_copied = 0.6, most_copied_at_last = 0.95;
/// A pair with less than this share of the variance of its look's noisiest repeats it, coded anew.
constexpr float least_of_look = 0.25f;
/// Below it (rounding to 8 bits makes 0.29) there is no noise to speak of.
constexpr float least_level = 0.5f;

/// The blocks of each plane between two frames.
struct Pair {
  std::array<std::vector<ClipDifference>, 3> planes;
  float quiet = 0;  // what differs around a rather quiet block of the first plane
};

int step_for(const FrameFormat& format) {
  const double area = static_cast<double>(format.width) * format.height;
  // Odd, so that blocks lie anywhere on a codec's grid.
  return std::max(5, static_cast<int>(std::sqrt(area / wanted_blocks)) | 1);
}

float quiet_level(const std::vector<ClipDifference>& blocks) {
  std::vector<float> around;
  for (const ClipDifference& b : blocks)
    if (b.valid && !b.copied && !b.constant) around.push_back(b.around);
  if (around.empty()) return 0;
  const auto place = around.begin() + static_cast<std::ptrdiff_t>(around.size() / 4);
  std::ranges::nth_element(around, place);
  return *place;
}

bool repeats(const std::vector<ClipDifference>& blocks, double most) {
  int copied = 0, all = 0;
  for (const ClipDifference& b : blocks) {
    if (!b.valid || b.constant) continue;
    ++all;
    copied += b.copied;
  }
  return copied > most * all;
}

/// Nothing if no noise can be seen between the two.
std::optional<Pair> compare(const Frame& a, const Frame& b, const ClipLuma& luma_a,
                            const ClipLuma& luma_b, double most) {
  if (!show_one_scene(luma_a, luma_b)) return std::nullopt;
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
  if (repeats(pair.planes[0], most)) return std::nullopt;
  pair.quiet = quiet_level(pair.planes[0]);
  return pair;
}

/// Of the planes.
using Tables = std::array<std::optional<CoefficientTable>, 3>;

/// What one look says: blocks to judge by, and their variances.
struct LookMeasurement {
  std::array<std::vector<ClipDifference>, 3> all, blocks;
  Tables tables;
  std::array<ChannelShares, 3> shares;
};

/// Of planes that are made of R, G and B, whose noise is as `tables` say.
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

LookMeasurement measure_look(const Look& look, double most) {
  std::vector<Pair> pairs;
  std::vector<ClipLuma> lumas;
  for (const Frame& frame : look) lumas.emplace_back(frame);
  for (std::size_t i = 0; i + 1 < look.size(); ++i)
    if (auto pair = compare(look[i], look[i + 1], lumas[i], lumas[i + 1], most))
      pairs.push_back(*std::move(pair));
  float noisiest = 0;
  for (const Pair& pair : pairs) noisiest = std::max(noisiest, pair.quiet);
  std::erase_if(pairs, [&](const Pair& p) { return p.quiet < least_of_look * noisiest; });
  LookMeasurement measured;
  for (int i = 0; i < 3; ++i) {
    std::vector<ClipDifference>& all = measured.all[i];
    for (const Pair& pair : pairs)
      all.insert(all.end(), pair.planes[i].begin(), pair.planes[i].end());
    measured.blocks[i] = judgeable(all);
  }
  const bool is_rgb = !look.empty() && look.front().format.layout == Layout::rgb;
  if (is_rgb)
    for (int i = 0; i < 3; ++i) measured.tables[i] = clipped_variances_of(measured.blocks[i]);
  // Where R, G and B are clipped, each in its own way, planes say by and by what their shares are.
  const int rounds = is_rgb ? 3 : 1;
  for (int round = 0; round < rounds; ++round) {
    if (is_rgb) measured.shares = shares_of(measured.tables);
    for (int i = 0; i < 3; ++i)
      measured.tables[i] = variances_of(measured.blocks[i], measured.shares[i]);
  }
  return measured;
}

/// The median, of an even count the mean of the two in the middle. Not of none.
float median_of(std::vector<float> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/// The looks' median level with the mean of their shapes. Looks whose level is far from it have
/// another scene's noise, or none: their shapes do not count.
CoefficientTable combine(const std::vector<CoefficientTable>& looks) {
  CoefficientTable all{};
  std::vector<float> variances;
  for (const CoefficientTable& table : looks) variances.push_back(mean_variance(table));
  if (variances.empty()) return all;
  const float middle = median_of(variances);
  float count = 0;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    if (variances[i] > 9 * middle || 9 * variances[i] < middle || variances[i] == 0) continue;
    ++count;
    for (int k = 0; k < 64; ++k) all[k] += looks[i][k] / variances[i];
  }
  for (float& v : all) v *= count > 0 ? middle / count : 0;
  return all;
}

constexpr int band_of(int k) {
  const int frequency = k / 8 + k % 8;
  return frequency == 0 ? 3 : frequency < 3 ? 0 : frequency < 7 ? 1 : 2;
}

/// Mean variances of low, middle and high frequencies.
std::array<double, 3> bands_of(const CoefficientTable& variances) {
  std::array<double, 4> sums{}, counts{};
  for (int k = 0; k < 64; ++k) {
    sums[band_of(k)] += static_cast<double>(variances[k]);
    ++counts[band_of(k)];
  }
  return {sums[0] / counts[0], sums[1] / counts[1], sums[2] / counts[2]};
}

/// Where nothing was looked at between brightnesses, lines; beyond them, what is next. Deviations
/// that differ by less than half may be what texture adds: a curve in vain costs 0.06 to 0.3 dB.
std::shared_ptr<const NoiseCurve> curve_of(const std::vector<LookMeasurement>& looks) {
  constexpr int bins = 8;
  constexpr double least_count = 60, least_ratio = 2.25;
  std::array<double, bins> sums{}, counts{}, brightness{};
  for (const LookMeasurement& look : looks) {
    if (!look.tables[0]) continue;
    const double level = static_cast<double>(mean_variance(*look.tables[0]));
    for (const ClipDifference& b : look.blocks[0]) {
      const double relative = static_cast<double>(mean_variance(b.energy) / b.left) / level;
      if (!(relative < 6)) continue;
      const int bin = std::clamp(static_cast<int>(b.brightness * bins / 256), 0, bins - 1);
      sums[bin] += relative;
      brightness[bin] += static_cast<double>(b.brightness);
      ++counts[bin];
    }
  }
  std::vector<std::pair<float, float>> points;  // brightness, standard deviation
  double least = 1e9, most = 0;
  for (int bin = 0; bin < bins; ++bin) {
    if (counts[bin] < least_count) continue;
    const double variance = sums[bin] / counts[bin];
    least = std::min(least, variance), most = std::max(most, variance);
    points.emplace_back(static_cast<float>(brightness[bin] / counts[bin]),
                        static_cast<float>(std::sqrt(variance)));
  }
  if (points.size() < 3 || least <= 0 || most < least_ratio * least) return nullptr;
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

/// A block of chroma that counts if the one of luma at its place does. Noise of chroma depends on
/// colour, too: where chroma chose, colours with less of it would stand for all.
ClipDifference chosen_by(const ClipDifference& luma, ClipDifference block) {
  block.valid = block.valid && luma.valid && !luma.copied;
  block.texture = luma.texture;
  block.around = luma.around;
  block.brightness = luma.brightness;
  return block;
}

/// Blocks of one range of luma, and what differs around each in their own plane.
struct LumaRange {
  std::vector<ClipDifference> blocks;
  std::vector<float> around;

  /// Leaves out those that repeat their noise: luma does not say so of chroma.
  void drop_repeated() {
    if (blocks.empty()) return;
    const float least = least_of_look * median_of(around);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (around[i] >= least) blocks[kept++] = blocks[i];
    blocks.resize(kept);
  }
};

/// Each range of luma is judged by itself, so that the quiet ones do not decide what counts in
/// others.
std::vector<LevelAtLuma> levels_by_luma(const std::vector<LookMeasurement>& looks, int plane) {
  constexpr int ranges = 16;
  constexpr std::size_t least_blocks = 30, enough_blocks = 60;
  std::array<LumaRange, ranges> by_range;
  ChannelShares shares;
  for (const LookMeasurement& look : looks) {
    if (!look.tables[plane]) continue;
    shares = look.shares[plane];
    for (std::size_t i = 0; i < look.all[plane].size(); ++i) {
      const ClipDifference block = chosen_by(look.all[0][i], look.all[plane][i]);
      if (!block.valid) continue;
      const int range = std::clamp(static_cast<int>(block.luma * ranges / 256), 0, ranges - 1);
      by_range[range].blocks.push_back(block);
      by_range[range].around.push_back(look.all[plane][i].around);
    }
  }
  std::vector<LevelAtLuma> levels;
  std::vector<ClipDifference> several;  // ranges, as many as it takes
  for (int range = 0; range < ranges; ++range) {
    if (plane > 0) by_range[range].drop_repeated();
    const std::vector<ClipDifference>& blocks = by_range[range].blocks;
    several.insert(several.end(), blocks.begin(), blocks.end());
    std::vector<ClipDifference> judged = judgeable(several);
    const bool is_last = range + 1 == ranges;
    if (judged.size() < (is_last ? least_blocks : enough_blocks)) continue;
    several.clear();
    double variance = 0, luma = 0;  // that of the mean, too: coarse noise has much of it there
    const auto variances = variances_of(judged, shares);  // of enough blocks: there are some
    for (const float v : variances.value()) variance += static_cast<double>(v) / 64;
    for (const ClipDifference& block : judged) luma += static_cast<double>(block.luma);
    levels.push_back({static_cast<float>(luma / static_cast<double>(judged.size())),
                      static_cast<float>(std::sqrt(variance))});
  }
  return levels;
}

bool too_small(const FrameFormat& format, int plane) {
  return std::min(format.plane_width(plane), format.plane_height(plane)) < 2 * clip_window;
}

}  // namespace

ClipMeasurement measure_clip(std::span<const Look> looks) {
  ClipMeasurement measured;
  measured.of_fields = are_weaved(looks);
  std::vector<LookMeasurement> parts;
  for (const double most : {most_copied, most_copied_at_last}) {
    parts.clear();
    for (const Look& look : looks)
      parts.push_back(measure_look(measured.of_fields ? even_fields(look) : look, most));
    const auto says = [](const LookMeasurement& part) { return part.tables[0].has_value(); };
    if (std::ranges::any_of(parts, says)) break;
  }
  for (int i = 0; i < 3; ++i) {
    std::vector<CoefficientTable> tables;
    for (const LookMeasurement& part : parts)
      if (part.tables[i]) tables.push_back(*part.tables[i]);
    measured.tables[i] = combine(tables);
    if (i == 0) measured.found = !tables.empty();
  }
  if (!measured.found) return measured;
  for (const LookMeasurement& part : parts)
    measured.look_level.push_back(part.tables[0] ? std::sqrt(mean_variance(*part.tables[0])) : 0);
  const auto first = std::ranges::find_if(looks, [](const Look& look) { return !look.empty(); });
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
  // Motion leaves something in the low band, codecs take something from it and the high one.
  return low > 0.6 * middle && low < 1.5 * middle && high > 0.75 * middle && high < 1.25 * middle;
}

NoiseEstimate estimate_of(const ClipMeasurement& measured, Layout layout) {
  NoiseEstimate estimate;
  std::array<PlaneNoise, 3> planes;
  const int count = layout == Layout::gray ? 1 : 3;
  for (int i = 0; i < count; ++i) {
    if (measured.level[i] < least_level) continue;
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
  // A mean of 8x8 samples is an eighth of the coefficient of the mean.
  const float mean = planes[0].sigma == 0 ? 0 : measured.tables[0][0];
  estimate.coarse = planes[0].is_white() ? planes[0].sigma / 8 : std::sqrt(mean) / 8;
  return estimate;
}

}  // namespace lull
