#pragma once

#include <cstdint>

#include "tools/commands/reports.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// @param damaged_frames  receives the number of damaged input frames if the function throws; may
///     be null
[[nodiscard]] int run_denoise(const DenoiseOptions& options, Reports& reports,
                              std::int64_t* damaged_frames = nullptr);

}  // namespace lull::tools
