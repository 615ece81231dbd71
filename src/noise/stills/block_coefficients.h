#pragma once
// Divides the coefficients of 8x8 blocks into two sets: one for the selection of blocks, one for
// the noise measurement.

namespace lull {

/// Returns the set of the coefficient k = 8 * v + u: 0 if v + u is even, 1 if v + u is odd. The
/// noise of the two sets is nearly independent. Selecting blocks by one set therefore hardly biases
/// a measurement in the other set.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
