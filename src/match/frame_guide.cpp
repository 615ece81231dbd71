#include "match/frame_guide.h"

#include "core/error.h"

namespace lull {

const Frame& guide_of(const Frame& frame, bool guided) {
  if (!guided) return frame;
  if (!frame.guide)
    throw InvalidArgument(
        "a frame without a guide (the session was opened for guided frames); give a guide with "
        "each frame");
  const FrameFormat &a = frame.format, &b = frame.guide->format;
  bool fits = a.layout == b.layout;
  for (int i = 0; fits && i < a.planes(); ++i)
    fits = a.plane_width(i) == b.plane_width(i) && a.plane_height(i) == b.plane_height(i);
  if (!fits)
    throw InvalidArgument(
        "a guide of another size or layout than its frame (patches are compared at equal "
        "positions); "
        "give a guide of the frame's size and layout");
  return *frame.guide;
}

}  // namespace lull
