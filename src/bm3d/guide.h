#pragma once
// The pictures in which groups are matched, where that is not simply the plane to filter.

#include "core/image.h"

namespace lull::bm3d {

/// Means of the 2^shift_x x 2^shift_y samples of `fine` that each sample of `coarse` covers; at the
/// right and lower border of those that exist. `coarse` has the size of `fine` shifted, rounded up.
void box_average(PlaneView<const float> fine, int shift_x, int shift_y, PlaneView<float> coarse);

}  // namespace lull::bm3d
