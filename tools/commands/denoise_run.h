#pragma once
// One run of the command, from open input to named output.

#include <cstdint>

#include "tools/commands/reports.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// The exit code. `damaged_frames`: where it throws, how many there were in the input until then;
/// null: nobody asks.
[[nodiscard]] int run_denoise(const DenoiseOptions& options, Reports& reports,
                              std::int64_t* damaged_frames = nullptr);

}  // namespace lull::tools
