#include "noise/estimate/lit_areas.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "noise/estimate/clip_table.h"

namespace lull {
namespace {

/// Blocks with a luma below this level are dark. The level is 12 above black of the limited range,
/// because noise that is clipped at black raises the mean luma of black areas to 19 to 26.
constexpr float dark_luma = 28;
/// Minimum shares of dark blocks. From `large_dark_share` on, dark areas are large. From
/// `min_dark_share_of_luma` on, the function also measures luma without the dark areas.
constexpr double large_dark_share = 0.2, min_dark_share_of_luma = 0.1;
/// Minimum share and number of blocks outside dark areas.
constexpr double min_lit_share = 0.05;
constexpr std::size_t min_lit_blocks = 60;
/// Number of groups of blocks with similar brightness, and minimum number of blocks in a group.
constexpr std::size_t lit_groups = 4, min_group = 60;
/// Maximum ratio of the variances of two groups. A higher ratio in luma shows texture. In chroma,
/// the ratio has no limit, because the noise level depends on the colour.
constexpr float max_spread_of_luma = 2.2f;
constexpr float max_spread_of_chroma = std::numeric_limits<float>::infinity();
/// The variance of luma outside dark areas replaces the variance in all areas only if it is higher
/// by the factor `min_ratio`. If less than the share `large_lit_share` of the blocks lies outside
/// dark areas, the factor is `min_ratio_of_small`, because most of the picture then has the weaker
/// noise.
constexpr float min_ratio = 1.2f, min_ratio_of_small = 2, large_lit_share = 0.3f;
/// Minimum variance of luma outside dark areas. In clips without noise, texture may look like
/// weaker noise.
constexpr float min_lit_variance = 0.75f * 0.75f;

/// The noise outside the dark areas of one plane of one excerpt, and the measured blocks.
struct LitNoise {
  CoefficientTable variances{};
  std::vector<ClipDifference> blocks;
};

bool is_comparable(const ClipDifference& b) { return b.valid && !b.copied && !b.constant; }
bool is_dark(const ClipDifference& b) { return b.luma < dark_luma; }

/// Returns the median of the tables, ordered by variance: the mean of the two middle tables, or the
/// lower of these two if the variances of all tables differ strongly. `tables` is not empty.
CoefficientTable middle_table(std::vector<CoefficientTable> tables, float max_spread) {
  std::ranges::stable_sort(tables, {}, mean_variance);
  const CoefficientTable& below = tables[(tables.size() - 1) / 2];
  const CoefficientTable& above = tables[tables.size() / 2];
  if (mean_variance(tables.back()) > max_spread * mean_variance(tables.front())) return below;
  CoefficientTable middle;
  for (std::size_t k = 0; k < middle.size(); ++k) middle[k] = (below[k] + above[k]) / 2;
  return middle;
}

/// Returns the share of dark blocks, 0..1.
double dark_share_of(std::span<const ClipDifference> blocks) {
  const auto all = std::ranges::count_if(blocks, is_comparable);
  const auto dark = std::ranges::count_if(
      blocks, [](const ClipDifference& b) { return is_comparable(b) && is_dark(b); });
  return all > 0 ? static_cast<double>(dark) / static_cast<double>(all) : 0;
}

/// Measures the noise of a plane of one excerpt in the blocks outside dark areas. Returns
/// std::nullopt if too few blocks lie outside dark areas.
std::optional<LitNoise> measure_lit(std::span<const ClipDifference> blocks, float max_spread) {
  std::vector<ClipDifference> lit;
  std::ranges::copy_if(blocks, std::back_inserter(lit),
                       [](const ClipDifference& b) { return is_comparable(b) && !is_dark(b); });
  if (lit.size() < min_lit_blocks || 1 - dark_share_of(blocks) < min_lit_share) return std::nullopt;
  std::ranges::stable_sort(lit, {}, &ClipDifference::brightness);
  // The function measures groups of blocks with similar brightness separately. The noise depends on
  // the brightness and the colour, so a common measurement would reject the blocks with the most
  // noise.
  const std::size_t groups = lit.size() < lit_groups * min_group ? 1 : lit_groups;
  LitNoise noise;
  std::vector<CoefficientTable> tables;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto at = [&](std::size_t i) {
      return lit.begin() + static_cast<std::ptrdiff_t>(lit.size() * i / groups);
    };
    std::vector<ClipDifference> selected = select_blocks({at(g), at(g + 1)});
    const auto variances = variances_of(selected);
    if (!variances) continue;
    tables.push_back(*variances);
    noise.blocks.insert(noise.blocks.end(), selected.begin(), selected.end());
  }
  if (tables.empty()) return std::nullopt;
  // In some groups, texture and motion look like noise.
  noise.variances = middle_table(std::move(tables), max_spread);
  return noise;
}

void exclude_from_chroma(ExcerptMeasurement& excerpt) {
  for (int i = 1; i < 3; ++i) {
    std::optional<CoefficientTable>& variances = excerpt.tables[i];
    if (!variances || dark_share_of(excerpt.all[i]) < large_dark_share) continue;
    const auto lit = measure_lit(excerpt.all[i], max_spread_of_chroma);
    if (lit && mean_variance(lit->variances) > mean_variance(*variances))
      variances = lit->variances;
  }
}

/// Excludes dark areas from the measurement of luma. The decision is the same for all excerpts with
/// dark areas, because a difference between excerpts would look like a change of the noise. Returns
/// whether dark areas are large in most excerpts.
bool exclude_from_luma(std::span<ExcerptMeasurement> excerpts) {
  std::vector<std::optional<LitNoise>> lit_noise(excerpts.size());
  std::vector<float> all_variances, lit_variances, lit_shares;
  int large = 0, measured = 0;
  for (std::size_t i = 0; i < excerpts.size(); ++i) {
    if (!excerpts[i].tables[0]) continue;
    ++measured;
    const double dark_share = dark_share_of(excerpts[i].all[0]);
    if (dark_share < min_dark_share_of_luma) continue;
    lit_noise[i] = measure_lit(excerpts[i].all[0], max_spread_of_luma);
    if (!lit_noise[i]) continue;
    large += dark_share >= large_dark_share;
    all_variances.push_back(mean_variance(*excerpts[i].tables[0]));
    lit_variances.push_back(mean_variance(lit_noise[i]->variances));
    lit_shares.push_back(static_cast<float>(1 - dark_share));
  }
  if (lit_shares.empty()) return false;
  const float minimum = median_of(lit_shares) < large_lit_share ? min_ratio_of_small : min_ratio;
  if (median_of(lit_variances) > std::max(minimum * median_of(all_variances), min_lit_variance))
    for (std::size_t i = 0; i < excerpts.size(); ++i) {
      if (!lit_noise[i]) continue;
      excerpts[i].tables[0] = lit_noise[i]->variances;
      excerpts[i].blocks[0] = std::move(lit_noise[i]->blocks);
    }
  return 2 * large > measured;
}

/// Returns the median variance of luma, or 0 if no excerpt has a measurement.
float median_variance_of(std::span<const ExcerptMeasurement> excerpts) {
  std::vector<float> variances;
  for (const ExcerptMeasurement& excerpt : excerpts)
    if (excerpt.tables[0]) variances.push_back(mean_variance(*excerpt.tables[0]));
  return variances.empty() ? 0 : median_of(variances);
}

}  // namespace

DarkAreas exclude_dark_areas(std::span<ExcerptMeasurement> excerpts) {
  DarkAreas dark;
  const float in_all_areas = median_variance_of(excerpts);
  for (ExcerptMeasurement& excerpt : excerpts) exclude_from_chroma(excerpt);
  dark.are_large = exclude_from_luma(excerpts);
  if (const float variance = median_variance_of(excerpts); variance > 0)
    dark.share_in_all_areas = std::sqrt(in_all_areas / variance);
  return dark;
}

}  // namespace lull
