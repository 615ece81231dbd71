#pragma once
// The guide of a run: another clip that says which patches are alike.

#include <memory>
#include <optional>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/wrap/side_input.h"

namespace lull::tools {

/// That of the options, if there is one. It is opened as `input` was, with `options`.
/// @throws NoInput, BadData as io::open_source(); BadData  it is of another size or kind than the
///         input
[[nodiscard]] std::optional<SideInput> open_guide(const DenoiseOptions& given,
                                               const io::SourceOptions& options,
                                               const io::MediaSource& input);

/// Gives each frame that goes into `denoiser` its guide (Frame::guide), on the scale of the input.
/// @param first_frame  where it is given, how much longer the guide is does not count
/// @throws BadData  at once, or from push() or drain(): the guide is shorter or longer than the
///                  input
[[nodiscard]] std::unique_ptr<Denoiser> guided(std::unique_ptr<Denoiser> denoiser, SideInput guide,
                                               const io::MediaSource& input,
                                               FirstFrame first_frame = {});

}  // namespace lull::tools
