#pragma once
// The guide of a frame: the picture in which the matcher compares patches, instead of the frame.

#include "core/frame.h"

namespace lull {

/// Returns the guide of `frame` if `guided` is true (the session filters with guides), and `frame`
/// if not.
/// @throws InvalidArgument  the guide is missing, or differs from the frame in its planes or sizes
[[nodiscard]] const Frame& guide_of(const Frame& frame, bool guided = true);

}  // namespace lull
