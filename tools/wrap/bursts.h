#pragma once
// Implements --align, which aligns the frames of a burst to the reference frame.

#include <memory>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/method.h"

namespace lull::tools {

/// Checks whether lull can align the input. The caller must call this function before it opens the
/// outputs.
/// @throws InvalidArgument  the input is not a burst, or --keep is missing
void check_align(const DenoiseOptions& options, const io::MediaSource& source);

/// Returns a denoiser that aligns frames to the reference frame (--keep) and passes them to
/// `denoiser`, or `denoiser` itself without --align. The denoiser does not align frames that do not
/// influence the result.
[[nodiscard]] std::unique_ptr<Denoiser> aligned(std::unique_ptr<Denoiser> denoiser,
                                                const DenoiseOptions& options, const Method& method,
                                                const io::MediaSource& source);

}  // namespace lull::tools
