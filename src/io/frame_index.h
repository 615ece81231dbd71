#pragma once
// An index of the pictures of a video. A process that decodes only a part of the video uses the
// index to get frames that are bit-identical to those of the complete video.

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/frame.h"

namespace lull::io {

/// Properties by which a source recognises a picture when it decodes the picture again.
struct FrameMark {
  std::int64_t pts = 0, duration = 0;  // in ticks of the input's stream
  std::uint64_t digest = 0;            // digest of samples and side data; 0: unknown
  bool key = false;                    // decoding can start here, according to the decoder
  bool kept = true;                    // selected (SourceOptions::selection)
  bool operator==(const FrameMark&) const = default;
};

struct FrameIndex {
  std::vector<FrameMark> pictures;  // all pictures of the input, in order of presentation
  // The repeat state of each picture. If the list is shorter than `pictures`, the states of the
  // remaining pictures are unknown.
  std::vector<RepeatState> repeat_state;
  // One line with the reason why decoding must start at the first picture. Empty if decoding can
  // start at later pictures.
  std::string no_seek_reason = {};
  bool operator==(const FrameIndex&) const = default;

  /// Returns the number of selected pictures.
  std::int64_t kept() const;
  /// Returns the index in `pictures` of the selected frame with the number `frame`, counted from 0.
  /// Returns pictures.size() if there are fewer selected frames.
  std::int64_t picture_of(std::int64_t frame) const;
  /// Returns the picture at which decoding must start so that at least `margin` pictures precede
  /// the frame `frame`. The margin does not count repeated pictures. The result is the last such
  /// picture to which a source can seek, or 0.
  std::int64_t start_with_margin(std::int64_t frame, int margin) const;

  // Functions for inputs that lull reads in parallel. `margins` is the value of
  // SourceOptions::margins: if true, the source returns all pictures; if false, it returns only the
  // selected pictures.

  /// Returns the number of frames that the source returns before the picture with the index
  /// `picture`.
  std::int64_t frames_before(std::int64_t picture, bool margins) const;
  /// Returns the index of the last picture to which a source can seek, at or before the frame
  /// `frame`. Returns 0 if there is no such picture.
  std::int64_t seek_point_at(std::int64_t frame, bool margins) const;
};

/// Error: a decoded picture differs from its entry in the index.
class IndexMismatch : public Error {
 public:
  explicit IndexMismatch(const std::string& text) : Error(ErrorKind::bad_data, text) {}
};

}  // namespace lull::io
