#pragma once
// Reads the guide of a run: another clip, in which sessions match patches.

#include <memory>
#include <optional>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/wrap/side_input.h"

namespace lull::tools {

/// Opens the guide that the command line (`given`) names, with the source options of `input`.
/// Returns no value without a guide.
/// @throws NoInput  lull cannot open the guide
/// @throws BadData  the guide is damaged, or has another size or layout than the input
[[nodiscard]] std::optional<SideInput> open_guide(const DenoiseOptions& given,
                                                  const io::SourceOptions& options,
                                                  const io::MediaSource& input);

/// Returns a denoiser that sets Frame::guide of every frame, on the scale of the input, and passes
/// the frame to `denoiser`.
/// @param first_frame  index, in the input, of the first frame that the denoiser receives; if set,
///     the guide may be longer than the input
/// @throws BadData  the guide has a wrong length; push() and drain() of the denoiser may throw this
///     error
[[nodiscard]] std::unique_ptr<Denoiser> guided(std::unique_ptr<Denoiser> denoiser, SideInput guide,
                                               const io::MediaSource& input,
                                               FirstFrame first_frame = {});

}  // namespace lull::tools
