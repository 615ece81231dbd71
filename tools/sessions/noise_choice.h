#pragma once
// Which noise a run takes away: what its options state, or what is found in its input.

#include <optional>
#include <string>
#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/report/progress.h"
#include "tools/sessions/sessions.h"

namespace lull::tools {

/// The noise that is stated: by --sigma, on the scale of filters (rescale_sigma); by --noise; by
/// the job that is gone on with. Nothing: it has to be found.
/// @throws InvalidArgument  it is of frames of another layout; NoInput, BadData
[[nodiscard]] std::optional<NoiseRecord> stated_noise(const DenoiseOptions& options,
                                                      const FrameFormat& format,
                                                      const io::ValueScale& values);

/// What is told of it: a line for each scene; none if it was given as a sigma.
[[nodiscard]] std::vector<std::string> noise_lines(const DenoiseOptions& options,
                                                   const NoiseRecord& noise);

/// What progress tells of a scene, of frames with so many planes.
[[nodiscard]] SceneLevels levels_of(const SceneNoise& scene, int planes);

/// The parameters for a scene.
/// @throws InvalidArgument  naming a parameter outside its range
[[nodiscard]] ScenePlan scene_plan(const DenoiseOptions& options, const SceneNoise& scene,
                                   const io::VideoInfo& input);
/// Those for each scene.
/// @throws InvalidArgument  naming a parameter outside its range
[[nodiscard]] ClipPlan clip_plan(const DenoiseOptions& options, const NoiseRecord& noise,
                                 const io::VideoInfo& input);

}  // namespace lull::tools
