#pragma once
// Detects repeated frames as a FrameSession does, but without a session.

#include <array>
#include <memory>

#include "core/repeats.h"

namespace lull {

/// Returns a detector that finds the same repeated frames as a session with the temporal radius
/// `radius`. If `radius` is 0, the detector compares no frames. `sigma` contains the noise levels
/// of the stored planes.
[[nodiscard]] std::unique_ptr<RepeatFinder> make_repeat_finder(const std::array<float, 3>& sigma,
                                                               int radius);

}  // namespace lull
