#pragma once
// Estimates the noise of TIFF stacks channel by channel.

#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Estimates the noise of a stack whose slices are single pictures or the frames of a clip.
[[nodiscard]] SceneNoise scene_of_slices(const std::vector<Excerpt>& excerpts);

/// Estimates the noise of a TIFF stack from all slices, in a second pass over the input. Each
/// channel has one scene, or one scene per time point if the noise levels of its volumes differ.
/// @throws any error of reading
[[nodiscard]] std::vector<SceneNoise> noise_of_tiff_stack(const DenoiseOptions& options,
                                                          const io::MediaSource& source);

}  // namespace lull::tools
