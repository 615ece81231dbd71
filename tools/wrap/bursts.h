#pragma once
// --align: aligns the frames of a burst to the reference frame.

#include <memory>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/method.h"

namespace lull::tools {

/// Must be called before any output is opened.
/// @throws InvalidArgument  the input is not a burst, or --keep is missing
void check_align(const DenoiseOptions& options, const io::MediaSource& source);

/// Wraps `denoiser`, which uses `method`, so that it receives the frames aligned to the reference
/// frame (--keep), limited to the frames that affect its result. Without --align it returns
/// `denoiser` unchanged.
[[nodiscard]] std::unique_ptr<Denoiser> aligned(std::unique_ptr<Denoiser> denoiser,
                                                const DenoiseOptions& options, const Method& method,
                                                const io::MediaSource& source);

}  // namespace lull::tools
