#pragma once
// How the coefficients of blocks of 8x8 samples are shared out between what chooses blocks and what
// measures them.

namespace lull {

/// Coefficient k (row by row) is of one of two sets, like the fields of a chessboard: blocks are
/// chosen by one set and measured in the other, and the other way round, so that choosing hardly
/// biases.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
