#pragma once
// Which frames of a clip repeat the one before them: found once, where a clip is cut into parts, so
// that every session decides as it would for the whole.

#include "core/frame.h"

namespace lull {

/// Says of each frame of a clip what it is to the one before. Used from one thread at a time.
class RepeatFinder {
 public:
  virtual ~RepeatFinder() = default;
  /// Of the next frame; the first one of a clip is fresh. Its samples must be in the host's memory,
  /// and stay as they are until the next call.
  [[nodiscard]] virtual Likeness find(const Frame& frame) = 0;
  /// The next frame is the first of another clip.
  virtual void clear() = 0;
};

}  // namespace lull
