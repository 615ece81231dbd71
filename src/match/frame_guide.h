#pragma once
// The guide that a frame brings: what patches are compared in, in place of the frame itself.

#include "core/frame.h"

namespace lull {

/// That of a session that was opened for guided frames, otherwise the frame itself.
/// @throws InvalidArgument  the frame came without one, or with one of another size or other planes
[[nodiscard]] const Frame& guide_of(const Frame& frame, bool guided = true);

}  // namespace lull
