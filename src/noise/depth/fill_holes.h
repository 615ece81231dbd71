#pragma once
// What filters see in the holes of a depth map.

#include "core/image.h"
#include "noise/holes.h"

namespace lull {

/// Gives the holes of `plane` values that join their surroundings smoothly: coarse means first,
/// which reach into holes of any size (pull and push: Gortler, Grzeszczuk, Szeliski, Cohen 1996,
/// doi:10.1145/237170.237200, section 3.5), then some rounds of diffusion. What the holes held has
/// no influence. Without any sample that is none, all are 0.
void fill_holes(const Holes& holes, PlaneView<float> plane);

}  // namespace lull
