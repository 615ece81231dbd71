#pragma once
// An index of the pictures of a video. A process that decodes only a part of the video uses the
// index to get bit-identical frames.

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/frame.h"

namespace lull::io {

/// Properties by which a source recognises a picture after a seek.
struct FrameMark {
  std::int64_t pts = 0, duration = 0;  // in ticks of the input's stream
  std::uint64_t digest = 0;            // digest of samples and side data; 0: unknown
  bool key = false;                    // decoding can start here, according to the decoder
  bool kept = true;                    // selected (SourceOptions::selection)
  bool operator==(const FrameMark&) const = default;
};

struct FrameIndex {
  std::vector<FrameMark> pictures;  // all pictures of the input, in order of presentation
  // Repeat state of each picture. The list may be shorter than `pictures`; missing states are
  // unknown.
  std::vector<RepeatState> repeat_state;
  // Reason, as one line, why decoding must start at the first picture; empty if decoding can start
  // at later pictures.
  std::string no_seek_reason = {};
  bool operator==(const FrameIndex&) const = default;

  /// Returns the number of selected pictures.
  std::int64_t kept() const;
  /// Returns the index in `pictures` of the selected picture with the number `frame`. The number
  /// counts only selected pictures, from 0. If there are fewer selected pictures, the function
  /// returns pictures.size().
  std::int64_t picture_of(std::int64_t frame) const;
  /// Returns the last picture at which decoding can start and that precedes frame `frame` by at
  /// least `margin` pictures; 0 if there is none. Repeated pictures do not count for the margin.
  std::int64_t start_with_margin(std::int64_t frame, int margin) const;

  // lull reads some inputs in parallel with the main input. The following functions serve these
  // inputs. `margins` states which pictures the source of such an input returns: all pictures
  // (true), or only the selected ones (false).

  /// Returns the number of frames that the source returns before the picture `picture`.
  std::int64_t frames_before(std::int64_t picture, bool margins) const;
  /// Returns the seek point for the frame `frame`: the last picture, at or before this frame, at
  /// which a source can start; 0 if there is none.
  std::int64_t seek_point_at(std::int64_t frame, bool margins) const;
};

/// A source throws this error if a decoded picture differs from its entry in the index.
class IndexMismatch : public Error {
 public:
  explicit IndexMismatch(const std::string& text) : Error(ErrorKind::bad_data, text) {}
};

}  // namespace lull::io
