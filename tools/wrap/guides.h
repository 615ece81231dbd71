#pragma once
// Reads the guide of a run: another clip, in which patches are matched.

#include <memory>
#include <optional>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/wrap/side_input.h"

namespace lull::tools {

/// Opens the guide that the options `given` name, with the same options as `input`; nothing if they
/// name none.
/// @throws NoInput  the guide cannot be opened
/// @throws BadData  the guide is damaged, or has another size or layout than the input
[[nodiscard]] std::optional<SideInput> open_guide(const DenoiseOptions& given,
                                                  const io::SourceOptions& options,
                                                  const io::MediaSource& input);

/// Wraps `denoiser` so that every frame receives its guide (Frame::guide) on the scale of the
/// input.
/// @param first_frame  if it is set, the guide may have further frames after the last frame of the
///     input
/// @throws BadData  from this function, push() or drain(): the guide is shorter or longer than the
///     input
[[nodiscard]] std::unique_ptr<Denoiser> guided(std::unique_ptr<Denoiser> denoiser, SideInput guide,
                                               const io::MediaSource& input,
                                               FirstFrame first_frame = {});

}  // namespace lull::tools
