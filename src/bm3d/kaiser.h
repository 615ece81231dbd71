#pragma once
// The aggregation window (Dabov 2007, section IV.B): a separable Kaiser window over the patch.

#include <array>

#include "bm3d/params.h"

namespace lull::bm3d {

/// One axis of the window, for patches of `side` samples (the first so many elements):
/// I0(beta sqrt(1 - (2i/(side - 1) - 1)^2)) / I0(beta). All ones for beta = 0.
[[nodiscard]] std::array<float, patch> kaiser_window(float beta, int side = patch);

}  // namespace lull::bm3d
