#pragma once
// An index of a video's pictures. It allows processes to decode a part of the video alone, with
// results that are bit for bit equal to those of the complete video.

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/frame.h"

namespace lull::io {

/// Properties of a picture that was decoded once, sufficient to recognise it again.
struct FrameMark {
  std::int64_t pts = 0, duration = 0;  // in ticks of the input's stream
  std::uint64_t digest = 0;            // of its samples and side data; 0: unknown
  bool key = false;                    // decoding can start here, according to the decoder
  bool kept = true;                    // selected (SourceOptions::selection)
  bool operator==(const FrameMark&) const = default;
};

struct FrameIndex {
  std::vector<FrameMark> pictures;  // all pictures of the input, in order of presentation
  // Relation of each picture to the previous one; may be shorter: unknown.
  std::vector<RepeatState> repeat_state;
  // Why decoding must start at the first picture, one line; empty: it can start elsewhere.
  std::string no_seek_reason = {};
  bool operator==(const FrameIndex&) const = default;

  /// Returns the number of selected pictures.
  std::int64_t kept() const;
  /// Returns the picture that is the selected frame number `frame`, from 0; pictures.size() if
  /// there are fewer selected frames.
  std::int64_t picture_of(std::int64_t frame) const;
  /// Returns the picture at which decoding must start so that at least `margin` pictures come
  /// before frame `frame`, not counting pictures that repeat another one. The result is 0 if fewer
  /// than `margin` such pictures come before that frame. Otherwise the result is a picture to which
  /// a source can seek, or 0.
  std::int64_t start_with_margin(std::int64_t frame, int margin) const;

  // The following functions are for inputs that are read in parallel, and whose frames with equal
  // numbers belong together. `margins` is SourceOptions::margins: if it is true, the source returns
  // all pictures, else only selected ones.

  /// Returns how many frames a source returns before this picture.
  std::int64_t frames_before(std::int64_t picture, bool margins) const;
  /// Returns the last picture to which a source can seek and that does not come after frame number
  /// `frame`; or 0.
  std::int64_t seek_point_at(std::int64_t frame, bool margins) const;
};

/// The decoded pictures differ from the index.
class IndexMismatch : public Error {
 public:
  explicit IndexMismatch(const std::string& text) : Error(ErrorKind::bad_data, text) {}
};

}  // namespace lull::io
