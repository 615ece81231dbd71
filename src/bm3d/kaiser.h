#pragma once
// The aggregation window (Dabov 2007, section IV.B): a separable Kaiser window over the patch.

#include <array>

#include "bm3d/params.h"

namespace lull::bm3d {

/// One axis of the window: I0(beta sqrt(1 - (2i/7 - 1)^2)) / I0(beta). All ones for beta = 0.
[[nodiscard]] std::array<float, patch> kaiser_window(float beta);

}  // namespace lull::bm3d
