#pragma once
// A frame as a matcher on the host sees it.

#include <span>

#include "core/image.h"
#include "noise/holes.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull {

struct GuideView {
  PlaneView<const float> samples;  // where patches are matched
  /// From the references' frame to this one, for each bundle (MotionGrid); empty: none moves.
  std::span<const Motion> motion;
  const Holes* holes = nullptr;  // patches that reach into one are no candidates; null: none
};
using GuideFrame = FrameAt<GuideView>;

}  // namespace lull
