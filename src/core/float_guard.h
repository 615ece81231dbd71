#pragma once
// Planes of float samples in the host's memory on their way into a filter and out again:
// float_range.h says what becomes of them.

#include "core/float_range.h"
#include "core/frame.h"
#include "core/image.h"

namespace lull {

/// `plane` is what load_plane() made of plane `i` of `frame`: it becomes what filters see. Whether
/// anything was changed. `sigma`: of the plane's noise, on the 0..255 scale.
bool guard_plane(const Frame& frame, int i, float sigma, PlaneView<float> plane);

/// The way back, after store_plane(): plane `i` of `filtered` gets what filters did not see of
/// `frame`, which has the same format.
void unguard_plane(const Frame& frame, int i, float sigma, const Frame& filtered);

}  // namespace lull
