#pragma once
// The repeat detection of a session, for use without the session.

#include <array>
#include <memory>

#include "core/repeats.h"

namespace lull {

/// Returns a finder that decides as a session over frames with this temporal `radius` does.
/// `sigma`: standard deviation of the noise in the stored planes. With radius 0 frames are not
/// compared.
[[nodiscard]] std::unique_ptr<RepeatFinder> make_repeat_finder(const std::array<float, 3>& sigma,
                                                               int radius);

}  // namespace lull
