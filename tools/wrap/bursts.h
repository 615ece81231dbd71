#pragma once
// What --align asks for: the frames of a burst laid onto the one that is kept.

#include <memory>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/method.h"

namespace lull::tools {

/// Before anything is opened for writing. @throws InvalidArgument  the input is no burst; no frame
/// is kept
void check_align(const DenoiseOptions& options, const io::MediaSource& source);

/// `denoiser`, which uses `method`, with the frames that matter for the kept one as that sees them;
/// without --align that itself.
[[nodiscard]] std::unique_ptr<Denoiser> aligned(std::unique_ptr<Denoiser> denoiser,
                                                const DenoiseOptions& options, const Method& method,
                                                const io::MediaSource& source);

}  // namespace lull::tools
