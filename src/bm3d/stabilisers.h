#pragma once
// What BM3D makes of noise that depends on the intensity: noise/stabiliser.h, and back for what it
// gives.

#include "bm3d/params.h"
#include "core/frame.h"
#include "noise/stabiliser.h"

namespace lull::bm3d {

/// Of each plane that is filtered and has a curve, of frames with this layout; null for all others.
[[nodiscard]] Stabilisers stabilisers_of(const Params& params, Layout layout);

}  // namespace lull::bm3d
