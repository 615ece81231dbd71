#pragma once
// Selection of the flattest blocks of pictures, in which the noise is measured.
//
// The coefficients of a block form two sets, with v + u odd and even. The code selects blocks by
// the energy of one set around the block, and measures the noise in the other set, then exchanges
// the sets. Selection and measurement are nearly independent, so the result has hardly any bias.
// Energies are weighted by the current spectrum.

#include <array>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

inline constexpr int brightness_ranges = 6;  // ranges of brightness, with equal numbers of blocks
inline constexpr float min_spectrum_variance = 1e-3f;

/// The usable blocks: a flag for each block, and the number of usable blocks.
struct UsableBlocks {
  std::vector<char> is;
  std::size_t count = 0;
};

/// Selects blocks with few clipped samples. If there are fewer than `min_blocks`, the function
/// allows more clipped samples.
[[nodiscard]] UsableBlocks select_usable(const PictureBlocks& blocks, std::size_t min_blocks);

/// Returns the indices of the usable blocks, sorted by brightness. `values` is the result of
/// coefficients() for the blocks.
[[nodiscard]] std::vector<int> by_brightness(std::span<const float> values,
                                             const UsableBlocks& usable);

/// Returns the blocks of the brightness range `r`. `ordered` contains all blocks, sorted by
/// brightness.
[[nodiscard]] std::span<const int> brightness_range(std::span<const int> ordered, int r);

/// Returns the spectrum computed from the medians over the given blocks.
[[nodiscard]] CoefficientTable median_spectrum(std::span<const float> values,
                                               std::span<const int> blocks);

/// One plane of a picture: the coefficients of its blocks and their current spectrum.
struct BlockPlane {
  std::span<const float> values;
  CoefficientTable spectrum{};
};

/// For each of the two sets of coefficients: the mean energy in the blocks around each block.
using Energies = std::array<std::vector<float>, 2>;

/// Returns the energies, summed over the planes and averaged over a square of about 20 samples
/// around each block.
[[nodiscard]] Energies energies_around(std::span<const BlockPlane> planes,
                                       const PictureBlocks& blocks, const UsableBlocks& usable);

/// Sorts blocks by increasing energy.
void rank(std::vector<int>& blocks, const std::vector<float>& energy);

/// Returns the first of the ranked blocks: the share `share` (0 to 1), but at least 40 blocks.
[[nodiscard]] std::span<const int> first_of(std::span<const int> ranked, double share);

/// Writes the mean squares over the blocks `measured`, for the coefficients of one set, to `table`.
void measure_set(std::span<const float> values, std::span<const int> measured, int set,
                 CoefficientTable& table);

}  // namespace lull
