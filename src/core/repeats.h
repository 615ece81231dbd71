#pragma once
// Interface for detecting repeated frames of a clip whose parts are filtered by several sessions.
// Detection runs once over the complete clip, so that all sessions make the same decisions.

#include "core/frame.h"

namespace lull {

/// Determines the RepeatState of each frame of a clip. One thread at a time may use the detector.
class RepeatFinder {
 public:
  virtual ~RepeatFinder() = default;
  /// Returns the state of the next frame. The first frame of a clip is independent. The samples
  /// must be in host memory and must not change until the next call.
  [[nodiscard]] virtual RepeatState find(const Frame& frame) = 0;
  /// Resets the detector. The next frame is then the first frame of another clip.
  virtual void clear() = 0;
};

}  // namespace lull
