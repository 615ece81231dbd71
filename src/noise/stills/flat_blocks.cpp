#include "noise/stills/flat_blocks.h"

#include <algorithm>
#include <cstdint>

#include "noise/stills/block_coefficients.h"

namespace lull {
namespace {

constexpr std::size_t min_measured = 40;  // blocks of a range
constexpr double max_energy = 30;         // maximum energy that counts, in units of the spectrum's

/// Limits for the number of clipped samples of a usable block. select_usable() uses the first limit
/// for which enough blocks are usable.
constexpr std::array<int, 3> max_clipped{1, 8, 24};

/// Returns, for each block, the mean of a property over the usable blocks in a surrounding area of
/// about 20 x 20 samples.
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

}  // namespace

UsableBlocks select_usable(const PictureBlocks& blocks, std::size_t min_blocks) {
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

std::vector<int> by_brightness(std::span<const float> values, const UsableBlocks& usable) {
  std::vector<int> ordered;
  for (std::size_t b = 0; b < usable.is.size(); ++b)
    if (usable.is[b]) ordered.push_back(static_cast<int>(b));
  std::sort(ordered.begin(), ordered.end(), [&](int a, int b) {
    const float p = values[static_cast<std::size_t>(a) * 64];
    const float q = values[static_cast<std::size_t>(b) * 64];
    return p != q ? p < q : a < b;
  });
  return ordered;
}

std::span<const int> brightness_range(std::span<const int> ordered, int r, int ranges) {
  const std::size_t begin = ordered.size() * r / ranges, end = ordered.size() * (r + 1) / ranges;
  return ordered.subspan(begin, end - begin);
}

CoefficientTable median_spectrum(std::span<const float> values, std::span<const int> blocks) {
  constexpr float median_of_square = 0.455f;  // median of the square of a standard normal value
  CoefficientTable table{};
  std::vector<float> squares(blocks.size());
  for (int k = 1; k < 64; ++k) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const float c = values[static_cast<std::size_t>(blocks[i]) * 64 + k];
      squares[i] = c * c;
    }
    const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
    std::nth_element(squares.begin(), middle, squares.end());
    table[k] = *middle / median_of_square;
  }
  return table;
}

Energies energies_around(std::span<const BlockPlane> planes, const PictureBlocks& blocks,
                         const UsableBlocks& usable) {
  Energies result;
  for (int set = 0; set < 2; ++set) {
    std::vector<float> own(blocks.size());
    for (const BlockPlane& plane : planes) {
      std::array<float, 64> weights{};
      for (int k = 1; k < 64; ++k)
        if (set_of(k) == set) weights[k] = 1 / (plane.spectrum[k] + min_spectrum_variance);
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (!usable.is[b]) continue;
        const float* c = &plane.values[b * 64];
        float sum = 0;
        for (int k = 0; k < 64; ++k)
          sum += std::min(c[k] * c[k] * weights[k], static_cast<float>(max_energy));
        own[b] += sum;
      }
    }
    result[set] = around(own, blocks, usable);
  }
  return result;
}

void rank(std::vector<int>& blocks, const std::vector<float>& energy) {
  std::sort(blocks.begin(), blocks.end(),
            [&](int a, int b) { return energy[a] != energy[b] ? energy[a] < energy[b] : a < b; });
}

std::span<const int> first_of(std::span<const int> ranked, double share) {
  const std::size_t wanted = static_cast<std::size_t>(share * static_cast<double>(ranked.size()));
  return ranked.first(std::min(ranked.size(), std::max(min_measured, wanted)));
}

void measure_set(std::span<const float> values, std::span<const int> measured, int set,
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

}  // namespace lull
