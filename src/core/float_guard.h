#pragma once
// Input range handling (float_range.h) for planes of float samples in host memory, before and after
// a filter.

#include "core/float_range.h"
#include "core/frame.h"
#include "core/image.h"

namespace lull {

/// Replaces those samples of `plane` that filters cannot process. `plane` is the result of
/// load_plane() for plane `i` of `frame`. `sigma`: standard deviation of the plane's noise, on the
/// 0..255 scale. Returns whether any sample was changed.
bool guard_plane(const Frame& frame, int i, float sigma, PlaneView<float> plane);

/// Restores those samples in plane `i` of `filtered` that guard_plane() changed. The caller calls
/// it after store_plane(). `filtered` has the format of `frame`.
void restore_plane(const Frame& frame, int i, float sigma, const Frame& filtered);

}  // namespace lull
