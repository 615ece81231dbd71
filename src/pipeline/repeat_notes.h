#pragma once
// Detects the repeated frames of a clip before the frames reach the filter.

#include <memory>
#include <utility>

#include "core/frame.h"
#include "core/repeats.h"

namespace lull::pipeline {

/// Determines unknown values of Frame::repeat_state. A repeated frame shares the samples of the
/// frame that it repeats.
class RepeatNotes {
 public:
  /// @param finder  detects repeated frames; if null, no frame counts as repeated
  explicit RepeatNotes(std::unique_ptr<RepeatFinder> finder) : finder_(std::move(finder)) {}

  /// Processes the next frame, which is in host memory.
  void note(Frame& frame) {
    if (frame.repeat_state == RepeatState::unknown)
      frame.repeat_state = finder_ ? finder_->find(frame) : RepeatState::independent;
    if (!last_.pixels && frame.repeat_state == RepeatState::repeats)
      frame.repeat_state = RepeatState::independent;
    if (frame.repeat_state == RepeatState::repeats)
      frame.take_samples(last_);
    else
      last_ = frame;
  }
  /// Resets the object for another clip.
  void clear() {
    last_ = {};
    if (finder_) finder_->clear();
  }

 private:
  std::unique_ptr<RepeatFinder> finder_;
  Frame last_;  // last frame that is not repeated
};

}  // namespace lull::pipeline
