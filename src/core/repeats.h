#pragma once
// Detection of repeated frames. If several sessions filter parts of one clip, they must agree on
// the repeated frames. Therefore, one RepeatFinder decides for all of them.

#include "core/frame.h"

namespace lull {

/// Determines the RepeatState of each frame of a clip. Only one thread at a time may use a
/// RepeatFinder.
class RepeatFinder {
 public:
  virtual ~RepeatFinder() = default;
  /// Returns the state of the next frame. The first frame of a clip is independent. The samples
  /// must be in host memory and must not change until the next call.
  [[nodiscard]] virtual RepeatState find(const Frame& frame) = 0;
  /// Starts another clip: the next frame is the first frame of that clip.
  virtual void clear() = 0;
};

}  // namespace lull
