#pragma once
// Implements `lull denoise` for each video stream of a file (--video all).

#include <functional>

#include "tools/options/denoise_options.h"
#include "tools/sessions/open_denoiser.h"

namespace lull::tools {

/// Denoises a video stream, and returns the exit code.
using DenoiseStream = std::function<int(const DenoiseOptions& options)>;

/// Calls `denoise` for each video stream, on the result of the previous call. All results except
/// the last are temporary files. `info` receives a line of text per stream.
/// @throws InvalidArgument  an option does not support several video streams
[[nodiscard]] int denoise_videos(const DenoiseOptions& options, const Notify& info,
                                 const DenoiseStream& denoise);

}  // namespace lull::tools
