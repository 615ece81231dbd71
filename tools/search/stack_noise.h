#pragma once
// Estimates the noise of TIFF stacks channel by channel.

#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Estimates the noise of a stack whose slices are single pictures or the frames of a clip.
[[nodiscard]] SceneNoise scene_of_slices(const std::vector<Excerpt>& excerpts);

/// Estimates the noise of a TIFF stack from all slices, in a second pass over the input. Returns
/// one estimate (SceneNoise) per channel. If the noise levels of the volumes of a channel differ,
/// returns one estimate per time point of this channel.
/// @throws any error of reading
[[nodiscard]] std::vector<SceneNoise> noise_of_tiff_stack(const DenoiseOptions& options,
                                                          const io::MediaSource& source);

}  // namespace lull::tools
