#pragma once
// An index of a video's pictures. A process that decodes only a part of the video needs the index
// to get the same frames, bit for bit, as from the complete video.

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/frame.h"

namespace lull::io {

/// Properties by which a picture is recognised when it is decoded again.
struct FrameMark {
  std::int64_t pts = 0, duration = 0;  // in ticks of the input's stream
  std::uint64_t digest = 0;            // digest of samples and side data; 0: unknown
  bool key = false;                    // decoding can start here, according to the decoder
  bool kept = true;                    // selected (SourceOptions::selection)
  bool operator==(const FrameMark&) const = default;
};

struct FrameIndex {
  std::vector<FrameMark> pictures;  // all pictures of the input, in order of presentation
  // Whether each picture repeats the previous one. If the list is shorter than `pictures`, the
  // state of the remaining pictures is unknown.
  std::vector<RepeatState> repeat_state;
  // One line that says why decoding must start at the first picture; empty if it can also start
  // later.
  std::string no_seek_reason = {};
  bool operator==(const FrameIndex&) const = default;

  /// Returns the number of selected pictures.
  std::int64_t kept() const;
  /// Returns the index of the selected frame with the number `frame`, counted from 0, in
  /// `pictures`; pictures.size() if there are fewer selected frames.
  std::int64_t picture_of(std::int64_t frame) const;
  /// Returns the picture at which decoding must start so that at least `margin` pictures precede
  /// the frame `frame`: the last such picture to which a source can seek, or 0. Repeated pictures
  /// do not count.
  std::int64_t start_with_margin(std::int64_t frame, int margin) const;

  // These functions are for inputs whose frames are read in parallel. `margins` is
  // SourceOptions::margins: true if the source returns all pictures, false if it returns only the
  // selected ones.

  /// Returns how many frames the source returns before the picture with the index `picture`.
  std::int64_t frames_before(std::int64_t picture, bool margins) const;
  /// Returns the index of the last picture at or before the frame `frame` to which a source can
  /// seek; 0 if there is none.
  std::int64_t seek_point_at(std::int64_t frame, bool margins) const;
};

/// Error: a decoded picture differs from its entry in the index.
class IndexMismatch : public Error {
 public:
  explicit IndexMismatch(const std::string& text) : Error(ErrorKind::bad_data, text) {}
};

}  // namespace lull::io
