#pragma once
// The guide of a run: another clip that says which patches are alike.

#include <cstdint>
#include <memory>
#include <optional>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// That of the options, if there is one; null otherwise. It is opened as `input` was, with
/// `options`.
/// @throws NoInput, BadData as io::open_source(); BadData  it is of another size or kind than the
///         input
[[nodiscard]] std::unique_ptr<io::MediaSource> open_guide(const DenoiseOptions& given,
                                                          const io::SourceOptions& options,
                                                          const io::MediaSource& input);

/// Gives each frame that goes into `denoiser` its guide (Frame::guide), on the scale of the input.
/// @param part_from  only a part of the input goes in, which begins with this frame of it; how much
///                   longer the guide is does not count then
/// @throws BadData  at once, or from push() or drain(): the guide is shorter or longer than the
///                  input
[[nodiscard]] std::unique_ptr<Denoiser> guided(std::unique_ptr<Denoiser> denoiser,
                                               std::unique_ptr<io::MediaSource> guide,
                                               const io::MediaSource& input,
                                               std::optional<std::int64_t> part_from = {});

}  // namespace lull::tools
