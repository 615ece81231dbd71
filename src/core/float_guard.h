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

/// Restores the samples that guard_plane() changed: writes their original values to plane `i` of
/// `filtered`. The caller calls this function after store_plane(). `filtered` has the format of
/// `frame`.
void restore_plane(const Frame& frame, int i, float sigma, const Frame& filtered);

}  // namespace lull
