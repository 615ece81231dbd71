#pragma once
// What is known of a video's pictures before they are decoded again: so that a part of it can be
// read by itself, and be the same to the bit.

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/frame.h"

namespace lull::io {

/// A picture of a video as it was once decoded: enough to know it again.
struct FrameMark {
  std::int64_t pts = 0, duration = 0;  // ticks of the input's stream
  std::uint64_t digest = 0;            // of its samples and of what comes with them; 0: unknown
  bool key = false;                    // the decoder says that one may begin here
  bool kept = true;                    // of what was asked for (SourceOptions::selection)
  bool operator==(const FrameMark&) const = default;
};

struct FrameIndex {
  std::vector<FrameMark> pictures;        // in order of presentation, from the input's first
  std::vector<RepeatState> repeat_state;  // of each to the one before; missing: unknown
  std::string no_seek_reason = {};  // why nobody may begin elsewhere, one line; empty: one may
  bool operator==(const FrameIndex&) const = default;

  /// Pictures that are kept.
  std::int64_t kept() const;
  /// The picture that is kept as number `frame`, from 0; pictures.size() if there are not so many.
  std::int64_t picture_of(std::int64_t frame) const;
  /// Where to begin so that before frame `frame` there are `margin` others that repeat none, or all
  /// that there are: a picture to which one can seek, or 0.
  std::int64_t start_with_margin(std::int64_t frame, int margin) const;

  // For inputs that are read side by side, whose frames of the same number belong together;
  // `margins` as SourceOptions has them: whether all pictures are given, or those that are kept.
  /// How many frames a source gives before this picture.
  std::int64_t frames_before(std::int64_t picture, bool margins) const;
  /// The last picture to which one can seek, of those up to the one that is given as number
  /// `frame`; or 0.
  std::int64_t seek_point_at(std::int64_t frame, bool margins) const;
};

/// What was decoded is not what the index says.
class IndexMismatch : public Error {
 public:
  explicit IndexMismatch(const std::string& text) : Error(ErrorKind::bad_data, text) {}
};

}  // namespace lull::io
