#pragma once
// Variance stabilisation for intensity-dependent noise (noise/stabiliser.h), with an inverse for
// BM3D.

#include "bm3d/params.h"
#include "core/frame.h"
#include "noise/stabiliser.h"

namespace lull::bm3d {

/// Returns the stabilisers for frames with the layout `layout`: one for each filtered plane with a
/// noise curve, and null for all other planes.
[[nodiscard]] Stabilisers stabilisers_of(const Params& params, Layout layout);

}  // namespace lull::bm3d
