#pragma once
// Divides the coefficients of 8x8 blocks into two sets: the first to select blocks, and the second
// to measure the noise in them.

namespace lull {

/// Returns the set, 0 or 1, that contains coefficient k = 8 v + u of a block. The sets alternate
/// like the squares of a chessboard. The code selects blocks by one set and measures the noise in
/// the other set, so that the selection hardly biases the measurement.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
