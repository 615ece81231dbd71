#pragma once
// Fills the holes of a depth map, so that filters can process it.

#include "core/image.h"
#include "noise/holes.h"

namespace lull {

/// Fills the holes of `plane` with values that continue the surroundings smoothly: first with
/// coarse means, which reach into holes of any size (pull-push: Gortler, Grzeszczuk, Szeliski,
/// Cohen 1996, doi:10.1145/237170.237200, section 3.5), then with some rounds of diffusion. The
/// previous values of holes have no influence. If all samples are holes, all become 0.
void fill_holes(const Holes& holes, PlaneView<float> plane);

}  // namespace lull
