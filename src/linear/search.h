#pragma once
// Plans the search for groups in several frames (params.h, "Temporal filtering").

#include <span>
#include <vector>

#include "linear/groups.h"

namespace lull::linear {

/// A frame in which the matcher searches.
struct FrameMotion {
  /// Number of frames from the frame of the reference patches to this frame, negative for earlier
  /// frames.
  int offset = 0;
  /// Motion vectors from the frame of the reference patches to this frame, one for each motion
  /// block (time/motion.h). Null for the frame of the reference patches itself.
  const std::vector<Motion>* cells = nullptr;
};

/// Plans the search in a plane. `sizes` must be a result of fitted(), and `sigma` is the noise
/// level of the noisy guide.
[[nodiscard]] Search plan_search(const MotionGrid& grid, const GroupSizes& sizes, float sigma,
                                 std::span<const FrameMotion> frames);

}  // namespace lull::linear
