#pragma once
// Selects the flattest blocks of pictures, for noise estimation.

// The DCT coefficients (v, u) of a block form two sets, by the parity of v + u. The estimator
// selects blocks by their energy in one set, and measures the noise in the other set. Then the sets
// change roles. The noise of the two sets is nearly independent.

#include <array>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

inline constexpr int brightness_ranges = 6;  // ranges of brightness, with equal numbers of blocks
inline constexpr float min_spectrum_variance = 1e-3f;

/// Usability of each block, and the number of usable blocks.
struct UsableBlocks {
  std::vector<char> is;
  std::size_t count = 0;
};

/// Selects the usable blocks, which have few clipped samples. If fewer than `min_blocks` blocks are
/// usable, the function raises the maximum number of clipped samples.
[[nodiscard]] UsableBlocks select_usable(const PictureBlocks& blocks, std::size_t min_blocks);

/// Returns the usable blocks, sorted by brightness.
[[nodiscard]] std::vector<int> by_brightness(std::span<const float> values,
                                             const UsableBlocks& usable);

/// `ordered` contains all blocks, sorted by brightness. The function divides the blocks into
/// `ranges` parts of equal size, and returns the part with the index `r`.
[[nodiscard]] std::span<const int> brightness_range(std::span<const int> ordered, int r,
                                                    int ranges = brightness_ranges);

/// Returns a table of coefficient variances for the given blocks, computed from medians over the
/// blocks.
[[nodiscard]] CoefficientTable median_spectrum(std::span<const float> values,
                                               std::span<const int> blocks);

/// The coefficients of the blocks of one plane, and their current spectrum.
struct BlockPlane {
  std::span<const float> values;
  CoefficientTable spectrum{};
};

/// For each of the two sets of coefficients, one value per block: the mean energy of the block and
/// its neighbours (energies_around()).
using Energies = std::array<std::vector<float>, 2>;

/// Returns, for each block, the mean energy of the usable blocks in the surrounding 20 x 20 samples
/// (approximately). The mean includes the block itself. The energy of a block is the sum of its
/// squared coefficients in all planes, each divided by its variance in BlockPlane::spectrum.
[[nodiscard]] Energies energies_around(std::span<const BlockPlane> planes,
                                       const PictureBlocks& blocks, const UsableBlocks& usable);

/// Sorts blocks by increasing energy.
void rank(std::vector<int>& blocks, const std::vector<float>& energy);

/// Returns the first blocks of the ranking: the share `share` (0 to 1) of all blocks, but at least
/// 40 blocks.
[[nodiscard]] std::span<const int> first_of(std::span<const int> ranked, double share);

/// Computes the mean square of each DCT coefficient of the set `set`, over the blocks `measured`.
/// Writes the mean squares to `table`. Does not change the table's entries for the other set.
void measure_set(std::span<const float> values, std::span<const int> measured, int set,
                 CoefficientTable& table);

}  // namespace lull
