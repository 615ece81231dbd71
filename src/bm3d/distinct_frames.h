#pragma once
// For those who give a session over time a part of a clip: which of its frames count.

#include "bm3d/params.h"
#include "bm3d/timeline.h"
#include "core/frame.h"

namespace lull::bm3d {

/// What a frame is to a session that sees the whole clip.
enum class Standing {
  repeats,   // it gets the result of the last distinct one
  distinct,  // it is filtered; margin() counts such frames
  entry,     // distinct, and what comes after it does not depend on what came before
};

/// Tells the standing of a clip's frames. A session that begins with an entry, margin() distinct
/// frames or more before the frame in question, gives that frame the bytes that it gets in the
/// whole clip.
class DistinctFrames {
 public:
  explicit DistinctFrames(const Params& params);
  /// The clip's next frame, with samples in the host's memory. One that equals the frame before bit
  /// by bit is given that one's samples, so that no number of them takes more memory.
  [[nodiscard]] Standing next(Frame& frame);

 private:
  Params params_;
  Timeline timeline_;
  Frame before_;
};

}  // namespace lull::bm3d
