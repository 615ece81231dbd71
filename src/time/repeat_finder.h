#pragma once
// Detects repeated frames as a FrameSession does, but without a session.

#include <array>
#include <memory>

#include "core/repeats.h"

namespace lull {

/// Returns a detector of the same repeated frames as in a session with this temporal `radius`.
/// `sigma` is the standard deviation of the noise in the stored planes. With radius 0, frames are
/// not compared.
[[nodiscard]] std::unique_ptr<RepeatFinder> make_repeat_finder(const std::array<float, 3>& sigma,
                                                               int radius);

}  // namespace lull
