#pragma once
// Division of the coefficients of blocks of 8x8 samples into two sets: one to select blocks, one to
// measure them.

namespace lull {

/// Returns the set of coefficient k (row by row). The sets alternate like the black and white
/// squares of a chessboard. Blocks are selected by the coefficients of one set and measured in the
/// coefficients of the other set, and vice versa, so that the selection hardly biases the
/// measurement.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
