#pragma once
// An index of a video's pictures. With the index, a process can decode only a part of the video,
// and still gets the same frames, bit for bit, as a process that decodes the complete video.

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/frame.h"

namespace lull::io {

/// Properties of a decoded picture that are sufficient to recognise the picture when it is decoded
/// again.
struct FrameMark {
  std::int64_t pts = 0, duration = 0;  // in ticks of the input's stream
  std::uint64_t digest = 0;            // digest of samples and side data; 0: unknown
  bool key = false;                    // decoding can start here, according to the decoder
  bool kept = true;                    // selected (SourceOptions::selection)
  bool operator==(const FrameMark&) const = default;
};

struct FrameIndex {
  std::vector<FrameMark> pictures;  // all pictures of the input, in order of presentation
  // States for each picture whether it repeats the previous picture. The list may be shorter than
  // `pictures`; the state of the remaining pictures is then unknown.
  std::vector<RepeatState> repeat_state;
  // One line that says why decoding must start at the first picture. The text is empty if decoding
  // can also start after the first picture.
  std::string no_seek_reason = {};
  bool operator==(const FrameIndex&) const = default;

  /// Returns the number of selected pictures.
  std::int64_t kept() const;
  /// Returns the position in `pictures` of the selected frame with the number `frame`, which is
  /// counted from 0. Returns pictures.size() if the index has fewer selected frames.
  std::int64_t picture_of(std::int64_t frame) const;
  /// Returns the picture at which decoding must start so that at least `margin` pictures precede
  /// the frame `frame`. Repeated pictures are not counted. The result is the last picture that
  /// fulfils this condition and to which a source can seek; 0 if there is no such picture.
  std::int64_t start_with_margin(std::int64_t frame, int margin) const;

  // The following functions are for inputs that are read in parallel: frames with the same number
  // belong together. `margins` is the value of SourceOptions::margins. If it is true, the source
  // returns all pictures; if it is false, the source returns only the selected pictures.

  /// Returns how many frames the source returns before the picture with the index `picture`.
  std::int64_t frames_before(std::int64_t picture, bool margins) const;
  /// Returns the index of the last picture that is not after the frame `frame` and to which a
  /// source can seek. Returns 0 if there is no such picture.
  std::int64_t seek_point_at(std::int64_t frame, bool margins) const;
};

/// Error that a source throws if a decoded picture differs from its entry in the index.
class IndexMismatch : public Error {
 public:
  explicit IndexMismatch(const std::string& text) : Error(ErrorKind::bad_data, text) {}
};

}  // namespace lull::io
