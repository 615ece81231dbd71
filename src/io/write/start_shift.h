#pragma once
// Computes the shift of all timestamps, which determines when an output begins.

#include <cstdint>
#include <string>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Offset for all timestamps. The offset is exact in the time base `tick`, and rounded in other
/// time bases.
struct StartShift {
  std::int64_t ticks = 0;
  AVRational tick{1, 1};

  double seconds() const { return static_cast<double>(ticks) * av_q2d(tick); }
  /// Returns the shift in units of the time base `other`.
  std::int64_t in(AVRational other) const { return av_rescale_q(ticks, tick, other); }
};

/// Returns the shift with which the earliest stream of the output begins at 0. With
/// Container::keep_times, only a start before 0 causes a shift, because some containers and players
/// do not support negative timestamps. The caller must call this function before the first read of
/// `source`.
StartShift start_shift(const FileSource& source, const Container& container);

/// Returns the shift for an encoder that requires a constant frame rate. The function rounds up the
/// time of the first frame to a whole number of ticks. The output may therefore begin later than
/// with start_shift(), by less than one frame.
/// @param tick  seconds per tick of the encoder's times
StartShift shift_on_grid(const FileSource& source, const Container& container, AVRational tick);

/// Returns the time of the first frame in units of `tick`, after the shift `shift`.
std::int64_t shifted_start(const FileSource& source, const StartShift& shift, AVRational tick);

/// Returns a line for the user about the shift of the input's timestamps; empty if the shift is 0.
std::string note_of_start(const FileSource& source, const Container& container);

}  // namespace lull::io
