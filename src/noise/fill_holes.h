#pragma once
// Fills the holes of a depth map.

#include "core/image.h"
#include "noise/holes.h"

namespace lull {

/// Fills the holes of `plane` by interpolation from an image pyramid (pull-push: Gortler et al.
/// 1996, doi:10.1145/237170.237200, section 3.5). Without a valid sample, all samples become 0, and
/// the function returns false.
bool interpolate_holes(const Holes& holes, PlaneView<float> plane);

/// Fills the holes of `plane` by interpolate_holes() and smooths the new samples by diffusion.
void fill_holes(const Holes& holes, PlaneView<float> plane);

}  // namespace lull
