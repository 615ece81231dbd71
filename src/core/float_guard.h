#pragma once
// Handling of out-of-range float samples (float_range.h) in host memory, before and after a filter.

#include "core/float_range.h"
#include "core/frame.h"
#include "core/image.h"

namespace lull {

/// Replaces the out-of-range samples of `plane`, which load_plane() has read from plane `i` of
/// `frame`. `sigma` is the standard deviation of the plane's noise, on the 0..255 scale. Returns
/// whether the function has replaced or clamped any sample.
bool guard_plane(const Frame& frame, int i, float sigma, PlaneView<float> plane);

/// Copies the original values of out-of-range samples from `frame` to plane `i` of `filtered`,
/// which has the same format. The caller must first call store_plane() for this plane.
void restore_plane(const Frame& frame, int i, float sigma, const Frame& filtered);

}  // namespace lull
