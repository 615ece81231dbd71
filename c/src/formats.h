#pragma once
// Formats of frames, and other properties of the input that a session needs.

#include "c/include/lull.h"
#include "core/frame.h"
#include "io/media_source.h"

namespace lull::c {

struct InputFormat {
  FrameFormat frame;
  bool is_volume = false, is_still = false;
  int frames = 0;  // 0: unknown

  /// Returns the description that the command `lull` has of an input with such frames.
  [[nodiscard]] io::VideoInfo info() const;
};

/// @throws InvalidArgument, StatusError
[[nodiscard]] InputFormat read_format(const lull_format* format);
/// Describes `frame`; the content and the number of frames are those of `input`.
[[nodiscard]] lull_format format_of(const FrameFormat& frame, const InputFormat& input);

}  // namespace lull::c
