#pragma once
// An index of a video's pictures. With the index, a process can decode a part of the video alone,
// with results that are bit for bit equal to those of the complete video.

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
  // Relation of each picture to the previous one. If the list is shorter than `pictures`, the
  // relation of the last pictures is unknown.
  std::vector<RepeatState> repeat_state;
  // Why decoding must start at the first picture, as one line. Empty: decoding can start elsewhere.
  std::string no_seek_reason = {};
  bool operator==(const FrameIndex&) const = default;

  /// Returns the number of selected pictures.
  std::int64_t kept() const;
  /// Returns the number of the picture that is the selected frame `frame`; the selected frames are
  /// counted from 0. Returns pictures.size() if there are fewer selected frames.
  std::int64_t picture_of(std::int64_t frame) const;
  /// Returns the picture at which decoding must start so that at least `margin` pictures precede
  /// frame `frame`. Pictures that repeat another one do not count. The result is 0 if fewer than
  /// `margin` such pictures precede that frame. In all other cases, the result is a picture to
  /// which a source can seek, or 0.
  std::int64_t start_with_margin(std::int64_t frame, int margin) const;

  // The following functions are for inputs that are read in parallel. Frames of these inputs with
  // equal numbers belong together. `margins` is SourceOptions::margins: if it is true, the source
  // returns all pictures; if it is false, only the selected ones.

  /// Returns how many frames a source returns before the picture `picture`.
  std::int64_t frames_before(std::int64_t picture, bool margins) const;
  /// Returns the last picture at or before frame `frame` to which a source can seek; 0 if there is
  /// none.
  std::int64_t seek_point_at(std::int64_t frame, bool margins) const;
};

/// An error: the decoded pictures differ from those that the index describes.
class IndexMismatch : public Error {
 public:
  explicit IndexMismatch(const std::string& text) : Error(ErrorKind::bad_data, text) {}
};

}  // namespace lull::io
