#pragma once
// Division of the coefficients of blocks of 8x8 samples into two sets: one to select blocks, one to
// measure them.

namespace lull {

/// Returns the set, 0 or 1, that contains coefficient k = 8 v + u. The sets alternate like the
/// squares of a chessboard. Blocks that are selected by the coefficients of one set are measured in
/// the coefficients of the other set, so that the selection hardly biases the measurement.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
