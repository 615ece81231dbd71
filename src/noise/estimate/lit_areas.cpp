#include "noise/estimate/lit_areas.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "noise/estimate/clip_table.h"

namespace lull {
namespace {

/// Blocks with a luma below this level are dark. The level is 12 above black of the limited range:
/// noise that is clipped at black raises the mean luma of black areas to 19 to 26.
constexpr float dark_luma = 28;
/// Minimum share and number of blocks outside dark areas.
constexpr double min_lit_share = 0.05;
constexpr std::size_t min_lit_blocks = 60;
/// Number of groups into which the blocks are divided by the brightness of the plane, and minimum
/// number of blocks in a group.
constexpr std::size_t lit_groups = 4, min_group = 60;

bool is_comparable(const ClipDifference& b) { return b.valid && !b.copied && !b.constant; }
bool is_dark(const ClipDifference& b) { return b.luma < dark_luma; }

/// Returns the table with the median variance, or the mean of the two middle tables. `tables` is
/// not empty.
CoefficientTable median_table(std::vector<CoefficientTable> tables) {
  std::ranges::stable_sort(tables, {}, mean_variance);
  const CoefficientTable& below = tables[(tables.size() - 1) / 2];
  const CoefficientTable& above = tables[tables.size() / 2];
  CoefficientTable median;
  for (std::size_t k = 0; k < median.size(); ++k) median[k] = (below[k] + above[k]) / 2;
  return median;
}

}  // namespace

double dark_share_of(std::span<const ClipDifference> blocks) {
  const auto all = std::ranges::count_if(blocks, is_comparable);
  const auto dark = std::ranges::count_if(
      blocks, [](const ClipDifference& b) { return is_comparable(b) && is_dark(b); });
  return all > 0 ? static_cast<double>(dark) / static_cast<double>(all) : 0;
}

std::optional<LitNoise> measure_lit(std::span<const ClipDifference> blocks) {
  std::vector<ClipDifference> lit;
  std::ranges::copy_if(blocks, std::back_inserter(lit), [](const ClipDifference& b) {
    return is_comparable(b) && !is_dark(b);
  });
  if (lit.size() < min_lit_blocks || 1 - dark_share_of(blocks) < min_lit_share) return std::nullopt;
  std::ranges::stable_sort(lit, {}, &ClipDifference::brightness);
  // The noise depends on the brightness and the colour. A common measurement of all blocks would
  // reject the blocks with the most noise.
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
  // In some groups, texture and motion look like noise. The median ignores such groups.
  noise.variances = median_table(std::move(tables));
  return noise;
}

}  // namespace lull
