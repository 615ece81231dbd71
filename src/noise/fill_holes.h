#pragma once
// Fills the holes of a depth map, so that filters can process the plane.

#include "core/image.h"
#include "noise/holes.h"

namespace lull {

/// Fills the holes of `plane` by interpolation from an image pyramid (pull-push: Gortler,
/// Grzeszczuk, Szeliski, Cohen 1996, doi:10.1145/237170.237200, section 3.5). The previous values
/// at holes do not influence the result. If all samples are holes, all become 0, and the function
/// returns false.
bool interpolate_holes(const Holes& holes, PlaneView<float> plane);

/// Fills the holes of `plane` by interpolate_holes(), and then smooths the new samples by
/// diffusion.
void fill_holes(const Holes& holes, PlaneView<float> plane);

}  // namespace lull
