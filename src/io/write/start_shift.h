#pragma once
// Computes the shift of all time stamps, which determines when an output begins.

#include <cstdint>
#include <string>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// A duration that the muxer adds to all time stamps, exact in the time base `tick` and rounded in
/// all others.
struct StartShift {
  std::int64_t ticks = 0;
  AVRational tick{1, 1};

  double seconds() const { return static_cast<double>(ticks) * av_q2d(tick); }
  /// Returns the duration of the shift in units of the time base `other`.
  std::int64_t in(AVRational other) const { return av_rescale_q(ticks, tick, other); }
};

/// Returns the duration by which the muxer shifts all streams. The earliest stream of the output
/// begins at 0, as in files of the ffmpeg command. With Container::keep_times, there is a shift
/// only if a stream begins before 0: MP4 hides content before 0, readers of Matroska change
/// negative time stamps, and other containers cannot store them. Must be called before the first
/// read of `source`.
StartShift start_shift(const FileSource& source, const Container& container);

/// Returns a shift with which an encoder of a constant frame rate can represent the time of the
/// first frame exactly, because such an encoder counts frames. All streams begin less than one
/// frame later than with start_shift(), with unchanged offsets between them.
/// @param tick  seconds per tick of the encoder's times
StartShift shift_on_grid(const FileSource& source, const Container& container, AVRational tick);

/// Returns the time of the first frame after the shift, in units of `tick`.
std::int64_t shifted_start(const FileSource& source, const StartShift& shift, AVRational tick);

/// Returns a line for the user about the shift of the input's time stamps; empty if there is none.
std::string note_of_start(const FileSource& source, const Container& container);

}  // namespace lull::io
