#pragma once
// Divides the coefficients of 8x8 blocks into two sets: the first to select blocks, and the second
// to measure the noise in them.

namespace lull {

/// The coefficients of a block form two sets, 0 and 1, which alternate like the squares of a
/// chessboard. Returns the set that contains coefficient k = 8 v + u. The estimator selects blocks
/// by the coefficients of one set and measures the noise in the coefficients of the other set, so
/// the selection hardly biases the measurement.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
