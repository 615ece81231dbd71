#pragma once
// Formats the live progress line.

#include <cstdint>
#include <string>

#include "pipeline/run.h"

namespace lull::tools {

/// Returns the progress line with at most `columns` - 1 characters, because some terminals wrap a
/// full line.
/// @param frames  expected number of frames; without a positive number, the line has no bar
[[nodiscard]] std::string progress_line(const pipeline::PipelineStats& stats, std::int64_t frames,
                                        int columns);

/// Returns the width of the terminal at `descriptor` in characters, or 80 if unknown.
[[nodiscard]] int columns_of(int descriptor);

/// Returns a duration as text: "0:05", "12:34" or "1:02:03".
[[nodiscard]] std::string format_duration(double seconds);

}  // namespace lull::tools
