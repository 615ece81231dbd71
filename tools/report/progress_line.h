#pragma once
// The live line of progress.

#include <cstdint>
#include <string>

#include "pipeline/run.h"

namespace lull::tools {

/// A bar, per cent and what else there is room for, in at most `columns` - 1 columns: one in the
/// last column makes some terminals wrap. `frames`: how many there will be; 0, or fewer than there
/// are already: nobody knows, and there is no bar.
[[nodiscard]] std::string progress_line(const pipeline::PipelineStats& stats, std::int64_t frames,
                                        int columns);

/// Of the terminal at `descriptor`; 80 if it is none or does not say.
[[nodiscard]] int columns_of(int descriptor);

/// "0:05", "12:34" or "1:02:03".
[[nodiscard]] std::string format_duration(double seconds);

}  // namespace lull::tools
