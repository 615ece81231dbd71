#pragma once
// Implements --align: aligns the frames of a burst to the reference frame.

#include <memory>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/method.h"

namespace lull::tools {

/// Checks whether the input can be aligned. Must be called before any output is opened.
/// @throws InvalidArgument  the input is not a burst, or --keep is missing
void check_align(const DenoiseOptions& options, const io::MediaSource& source);

/// Wraps `denoiser`, which uses `method`. The wrapper aligns frames to the reference frame
/// (--keep), and passes to `denoiser` only the frames that affect the result of the reference
/// frame. Without --align, the function returns `denoiser`.
[[nodiscard]] std::unique_ptr<Denoiser> aligned(std::unique_ptr<Denoiser> denoiser,
                                                const DenoiseOptions& options, const Method& method,
                                                const io::MediaSource& source);

}  // namespace lull::tools
