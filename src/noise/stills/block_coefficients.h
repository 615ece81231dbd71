#pragma once
// Divides the coefficients of 8x8 blocks into two sets: one for the selection of blocks, one for
// the noise measurement.

namespace lull {

/// Returns the set, 0 or 1, of coefficient k = 8 v + u, in a chessboard pattern. The noise of the
/// sets is nearly independent, so that selection hardly biases the measurement.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
