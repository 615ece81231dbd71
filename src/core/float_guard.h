#pragma once
// Handling of out-of-range float samples (float_range.h) in host memory, before and after a filter.

#include "core/float_range.h"
#include "core/frame.h"
#include "core/image.h"

namespace lull {

/// Replaces the out-of-range samples of `plane`, which is the result of load_plane() for plane `i`
/// of `frame`. `sigma` is the standard deviation of the plane's noise, on the 0..255 scale. Returns
/// whether any sample was changed.
bool guard_plane(const Frame& frame, int i, float sigma, PlaneView<float> plane);

/// Writes the original values of the samples that guard_plane() changed to plane `i` of `filtered`,
/// which has the format of `frame`. The caller calls this function after store_plane().
void restore_plane(const Frame& frame, int i, float sigma, const Frame& filtered);

}  // namespace lull
