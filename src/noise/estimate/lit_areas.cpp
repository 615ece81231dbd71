#include "noise/estimate/lit_areas.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "noise/estimate/clip_table.h"

namespace lull {
namespace {

/// Blocks with a luma below this level are dark. The level is 12 above black of the limited range:
/// noise that is clipped at black raises the mean luma of black areas to 19 to 26.
constexpr float dark_luma = 28;
/// Minimum share of dark blocks, and minimum share and number of the other blocks.
constexpr double min_dark_share = 0.2, min_lit_share = 0.05;
constexpr std::size_t min_lit_blocks = 60;
/// Number of groups into which the blocks are divided by the brightness of the chroma plane, and
/// minimum number of blocks in a group.
constexpr std::size_t lit_groups = 4, min_group = 60;

/// Returns the comparable blocks outside dark areas, or an empty vector if dark areas are small, or
/// if too few blocks lie outside dark areas.
std::vector<ClipDifference> lit_blocks_of(std::span<const ClipDifference> blocks) {
  const auto is_comparable = [](const ClipDifference& b) {
    return b.valid && !b.copied && !b.constant;
  };
  const auto is_dark = [](const ClipDifference& b) { return b.luma < dark_luma; };
  std::size_t all = 0, dark = 0;
  for (const ClipDifference& b : blocks) {
    if (!is_comparable(b)) continue;
    ++all;
    if (is_dark(b)) ++dark;
  }
  const auto share_of_all = [&](double share) {
    return static_cast<std::size_t>(share * static_cast<double>(all));
  };
  if (dark == 0 || dark < share_of_all(min_dark_share)) return {};
  if (all - dark < std::max(min_lit_blocks, share_of_all(min_lit_share))) return {};
  std::vector<ClipDifference> lit;
  for (const ClipDifference& b : blocks)
    if (is_comparable(b) && !is_dark(b)) lit.push_back(b);
  return lit;
}

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

std::optional<LitNoise> measure_lit(std::span<const ClipDifference> blocks) {
  std::vector<ClipDifference> lit = lit_blocks_of(blocks);
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
