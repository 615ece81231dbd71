#pragma once
// What frames of a clip are to those before them, noted before sessions see them.

#include <memory>
#include <utility>

#include "core/frame.h"
#include "core/repeats.h"

namespace lull::pipeline {

/// Notes the likeness of a clip's frames where it is unknown. Repetitions get the samples of the
/// frame that they repeat, so that no number of them takes more memory.
class RepeatNotes {
 public:
  /// Null: there are no repetitions.
  explicit RepeatNotes(std::unique_ptr<RepeatFinder> finder) : finder_(std::move(finder)) {}

  /// The next frame, in the host's memory.
  void note(Frame& frame) {
    if (frame.likeness == Likeness::unknown)
      frame.likeness = finder_ ? finder_->find(frame) : Likeness::fresh;
    if (!last_.pixels && frame.likeness == Likeness::repeats) frame.likeness = Likeness::fresh;
    if (frame.likeness == Likeness::repeats)
      frame.take_samples(last_);
    else
      last_ = frame;
  }
  /// The next frame is the first of another clip.
  void clear() {
    last_ = {};
    if (finder_) finder_->clear();
  }

 private:
  std::unique_ptr<RepeatFinder> finder_;
  Frame last_;  // that is no repetition
};

}  // namespace lull::pipeline
