#pragma once
// The coefficients of blocks of 8x8 samples, and how they are shared out between what chooses
// blocks and what measures them.

#include <array>

#include "core/bases.h"

namespace lull {

/// [k][i]: the orthonormal DCT, in floats.
inline const std::array<std::array<float, 8>, 8>& float_dct_rows() {
  static const auto rows = [] {
    std::array<std::array<float, 8>, 8> floats;
    const auto doubles = dct_rows<8>();
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 8; ++i) floats[k][i] = static_cast<float>(doubles[k][i]);
    return floats;
  }();
  return rows;
}

/// Coefficient k (row by row) is of one of two sets, like the fields of a chessboard: blocks are
/// chosen by one set and measured in the other, and the other way round, so that choosing hardly
/// biases.
constexpr int set_of(int k) { return (k / 8 + k % 8) % 2; }

}  // namespace lull
