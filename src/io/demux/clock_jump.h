#pragma once
// Discontinuities of timestamps, for messages to users.

#include <cstdio>
#include <string>

namespace lull::io {

/// A discontinuity of timestamps that ClockBridge has removed.
struct ClockJump {
  double time_s;        // in seconds since the first frame, in the corrected times
  double from_s, to_s;  // times of the input before and after the discontinuity
  bool wraps = false;   // the counter of the timestamps has overflowed
  int stream = -1;      // only this stream jumps; -1: all streams
};

/// Returns one line about a discontinuity in the input `path`.
inline std::string describe(const ClockJump& jump, const std::string& path) {
  const auto text = [](double seconds) {
    char characters[64];
    std::snprintf(characters, sizeof characters, "%.2f s", seconds);
    return std::string(characters);
  };
  const std::string where = " of '" + path + "' ";
  if (jump.wraps)
    return "the clock" + where + "wraps around at " + text(jump.time_s) + "; the output continues";
  const std::string what =
      jump.stream < 0 ? "the clock" : "the clock of stream " + std::to_string(jump.stream);
  return what + where + "jumps at " + text(jump.time_s) + " (from " + text(jump.from_s) + " to " +
         text(jump.to_s) + "); the output continues without a gap";
}

}  // namespace lull::io
