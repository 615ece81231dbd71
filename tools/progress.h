#pragma once
// The line that tells how far a run is.

#include <chrono>
#include <cstdint>
#include <string>

#include "pipeline/run.h"

namespace lull::tools {

/// Writes to stderr: one line rewritten in place on a terminal, else a line every few seconds.
class Progress {
 public:
  /// `frames`: how many there will be; 0: unknown.
  Progress(std::int64_t frames, bool quiet);
  /// To be called after each frame.
  void update(const pipeline::PipelineStats& stats);
  /// Removes the live line.
  void clear();
  /// The last line: frames, seconds, fps and the busiest stage.
  void summary(const pipeline::PipelineStats& stats, const std::string& output);

 private:
  std::string line(const pipeline::PipelineStats& stats) const;

  std::int64_t frames_;
  bool quiet_, terminal_, shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

/// "0:05", "12:34" or "1:02:03".
[[nodiscard]] std::string format_duration(double seconds);

}  // namespace lull::tools
