#pragma once
// Divides the coefficients of 8x8 blocks into two sets. One set selects blocks, and the other set
// measures the noise in these blocks.

namespace lull {

/// Returns the set, 0 or 1, that contains coefficient k = 8 v + u of a block. The sets alternate
/// like the squares of a chessboard. The noise of the two sets is nearly independent, so the
/// selection of blocks by one set hardly biases a measurement in the other set.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
