#pragma once
// The data of a frame that the matchers on the host read.

#include <span>

#include "core/image.h"
#include "noise/holes.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull {

struct GuideView {
  PlaneView<const float> samples;  // the guide, in which patches are compared
  /// Motion vectors from the frame of the reference patches to this frame. Blocks of 8x4 reference
  /// patches (bundles, MotionGrid) share one vector. If empty, there is no motion.
  std::span<const Motion> motion;
  const Holes* holes = nullptr;  // patches that overlap a hole are not candidates; null: no holes
};
using GuideAt = FrameAt<GuideView>;

}  // namespace lull
