#pragma once
// Variance stabilisation of noise that depends on the intensity (noise/stabiliser.h), with an
// inverse that is adapted to BM3D.

#include "bm3d/params.h"
#include "core/frame.h"
#include "noise/stabiliser.h"

namespace lull::bm3d {

/// Returns the stabilisers for frames with this layout, one for each plane that is filtered and has
/// a noise curve. For all other planes, the pointer is null.
[[nodiscard]] Stabilisers stabilisers_of(const Params& params, Layout layout);

}  // namespace lull::bm3d
