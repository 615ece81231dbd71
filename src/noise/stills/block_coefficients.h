#pragma once
// Divides the coefficients of 8x8 blocks into two sets: the first to select blocks, and the second
// to measure the noise in them.

namespace lull {

/// Returns the set, 0 or 1, that contains coefficient k = 8 v + u. The sets alternate like the
/// squares of a chessboard. Blocks that are selected by the coefficients of one set are measured in
/// the coefficients of the other set, so that the selection hardly biases the measurement.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
