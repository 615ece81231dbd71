#pragma once
// The aggregation window (Dabov 2007, section IV.B): a separable Kaiser window over the patch.

#include <array>

#include "bm3d/params.h"
#include "core/bases.h"

namespace lull::bm3d {

/// Returns the first `side` elements of the window along one axis. Element i is I0(beta * sqrt(1 -
/// (2 * i / (side - 1) - 1)^2)) / I0(beta), where I0 is the modified Bessel function of order 0. If
/// `beta` is 0, all elements are 1.
[[nodiscard]] inline std::array<float, patch> kaiser_window(float beta, int side = patch) {
  return lull::kaiser_window<patch>(beta, side);
}

}  // namespace lull::bm3d
