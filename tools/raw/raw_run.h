#pragma once
// Implements `lull denoise` for raw photographs.

#include "tools/options/denoise_options.h"
#include "tools/report/log.h"
#include "tools/report/progress.h"

namespace lull::tools {

/// Returns whether the input is a raw photograph, or a sequence of raw photographs.
[[nodiscard]] bool is_raw_input(const DenoiseOptions& options);

/// Denoises raw photographs and returns the exit code.
/// @throws InvalidArgument  an option does not apply to raw photographs
/// @throws BadData  a file is damaged or has no Bayer mosaic, or lull cannot estimate its noise
int denoise_raw(const DenoiseOptions& options, Log& log, Progress& progress);

}  // namespace lull::tools
