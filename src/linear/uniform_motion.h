#pragma once
// The motion of patches that span two frames (time/frame_pairs.h).

// A reference patch spans the frames r1 and r2, and its candidate spans the frames c1 and c2.
// Motion vectors point from r1 to c1 (vector a), to c2 (vector b), and to r2 (vector c). The
// acceleration of the candidate is b - a - c.

#include "time/motion.h"

namespace lull::linear {

/// Minimum acceleration in samples along one axis. Smaller accelerations count as 0, because motion
/// vectors have integer precision.
inline constexpr int min_acceleration = 2;

/// Returns true if the acceleration b - a - c counts as 0.
[[nodiscard]] constexpr bool is_uniform(Motion a, Motion b, Motion c) {
  const int x = b.x - a.x - c.x, y = b.y - a.y - c.y;
  return x > -min_acceleration && x < min_acceleration && y > -min_acceleration &&
         y < min_acceleration;
}

}  // namespace lull::linear
