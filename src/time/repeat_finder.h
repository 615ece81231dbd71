#pragma once
// What a session finds out about neighbouring frames, without the session.

#include <array>
#include <memory>

#include "core/repeats.h"

namespace lull {

/// Finds what a session over frames with this temporal `radius` finds, for planes with noise of
/// `sigma` as they are stored. With radius 0 frames are not compared.
[[nodiscard]] std::unique_ptr<RepeatFinder> make_repeat_finder(const std::array<float, 3>& sigma,
                                                               int radius);

}  // namespace lull
