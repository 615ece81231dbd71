#pragma once
// Finds stuck, hot and dead pixels: samples that are brighter, or darker, than their changing
// surroundings in all frames of a clip.

#include <functional>
#include <vector>

#include "core/image.h"

namespace lull::repair {

struct Position {
  int x = 0, y = 0;
  bool operator==(const Position&) const = default;
};

/// Passes the plane of a frame to `use`, as floats on the 0..255 scale. The view is valid only
/// during the call.
using PlaneReader =
    std::function<void(std::size_t frame, const std::function<void(PlaneView<const float>)>& use)>;

/// Minimum number of frames for the search for stuck pixels.
inline constexpr std::size_t min_frames_of_stuck = 3;

/// Returns the stuck pixels of a plane, row by row.
/// @param noise  standard deviation of the noise in each frame
/// @param level  quantisation step of the samples on the 0..255 scale
[[nodiscard]] std::vector<Position> find_stuck(const std::vector<float>& noise, float level,
                                               const PlaneReader& read);

}  // namespace lull::repair
