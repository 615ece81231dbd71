#pragma once
// The aggregation window (Dabov 2007, section IV.B): a separable Kaiser window over the patch.

#include <array>

#include "bm3d/params.h"
#include "core/bases.h"

namespace lull::bm3d {

/// Returns one axis of the window for patches of `side` samples, in the first `side` elements:
/// I0(beta sqrt(1 - (2i/(side - 1) - 1)^2)) / I0(beta). All elements are 1 for beta = 0.
[[nodiscard]] inline std::array<float, patch> kaiser_window(float beta, int side = patch) {
  return lull::kaiser_window<patch>(beta, side);
}

}  // namespace lull::bm3d
