#pragma once
// Selects the flattest blocks of pictures, in order to measure noise.

// The coefficients (v, u) of a block form two sets, with v + u odd and even. The energy of one set
// around a block selects the block, and the other set measures the noise. The sets are then
// exchanged. Selection and measurement are nearly independent, so the result has hardly any bias.
// Energies are weighted by the current spectrum.

#include <array>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

inline constexpr int brightness_ranges = 6;  // ranges of brightness, with equal numbers of blocks
inline constexpr float min_spectrum_variance = 1e-3f;

/// A flag for each block that is true if the block is usable, and the number of usable blocks.
struct UsableBlocks {
  std::vector<char> is;
  std::size_t count = 0;
};

/// Selects blocks with few clipped samples as usable blocks. If there are fewer than `min_blocks`,
/// the function allows more clipped samples.
[[nodiscard]] UsableBlocks select_usable(const PictureBlocks& blocks, std::size_t min_blocks);

/// Returns the indices of the usable blocks, sorted by brightness. `values` contains the
/// coefficients of the blocks.
[[nodiscard]] std::vector<int> by_brightness(std::span<const float> values,
                                             const UsableBlocks& usable);

/// Returns the blocks in the range of brightness with the index `r`. `ordered` contains all blocks,
/// sorted by brightness.
[[nodiscard]] std::span<const int> brightness_range(std::span<const int> ordered, int r);

/// Returns a spectrum that is computed from the medians of the coefficients over the given blocks.
[[nodiscard]] CoefficientTable median_spectrum(std::span<const float> values,
                                               std::span<const int> blocks);

/// The coefficients of the blocks of one plane of a picture, and their current spectrum.
struct BlockPlane {
  std::span<const float> values;
  CoefficientTable spectrum{};
};

/// For each of the two sets of coefficients, the mean energy around each block.
using Energies = std::array<std::vector<float>, 2>;

/// Returns the energies of blocks, summed over the planes and averaged over a square of about 20
/// samples around each block.
[[nodiscard]] Energies energies_around(std::span<const BlockPlane> planes,
                                       const PictureBlocks& blocks, const UsableBlocks& usable);

/// Sorts blocks by increasing energy.
void rank(std::vector<int>& blocks, const std::vector<float>& energy);

/// Returns the share `share` (0 to 1) of the ranked blocks, from the first on, but at least 40
/// blocks.
[[nodiscard]] std::span<const int> first_of(std::span<const int> ranked, double share);

/// Writes the mean squares of the coefficients of one set, over the blocks `measured`, to `table`.
void measure_set(std::span<const float> values, std::span<const int> measured, int set,
                 CoefficientTable& table);

}  // namespace lull
