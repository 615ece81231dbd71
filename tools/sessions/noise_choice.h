#pragma once
// Determines which noise a run removes. The noise comes from the options, or lull estimates the
// noise.

#include <optional>
#include <string>
#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/repair/repair_plan.h"
#include "tools/report/progress.h"
#include "tools/sessions/sessions.h"

namespace lull::tools {

/// Returns the noise of --sigma (after rescale_sigma()), of --noise, or of the resumed job. Returns
/// no value if lull must estimate the noise. If the noise contains a noise map, the map has the
/// size of the input.
/// @throws InvalidArgument  the given noise is for another frame layout
/// @throws NoInput, BadData  lull cannot read the noise file
[[nodiscard]] std::optional<NoiseRecord> stated_noise(const DenoiseOptions& options,
                                                      const FrameFormat& format,
                                                      const io::VideoInfo& input);

/// Returns whether the given noise needs the clipping limits of the input. Stacks, depth maps,
/// renders, weak noise, and coloured noise from a single picture need no clipping limits.
[[nodiscard]] bool needs_clipping(const DenoiseOptions& options, const NoiseRecord& noise,
                                  const io::VideoInfo& input);
/// Adds clipping limits to the noise of --sigma or --noise, if the filter requires them. The limits
/// come from the excerpts or from the plan of the job.
/// @param excerpts  the result of excerpts_from()
/// @throws BadData  the plan is damaged
void add_clipping(const DenoiseOptions& options, const io::VideoInfo& input,
                  const std::vector<Excerpt>& excerpts, NoiseRecord& noise);

/// Assigns given noise to the channels of a stack: one scene per channel, on the scale of the
/// channel. Each channel gets the first scene with its name ("channel 2"). If no scene has the
/// name, the channel gets the scene with its index, or the first scene if the numbers of scenes and
/// channels differ.
void assign_to_channels(const io::MediaSource& source, NoiseRecord& noise);

/// Returns the messages about the noise, one per scene. For --sigma, the messages contain only the
/// properties found in the samples.
[[nodiscard]] std::vector<std::string> noise_lines(const DenoiseOptions& options,
                                                   const NoiseRecord& noise);
/// Returns the messages about the noise. The first message also describes the repaired defects.
[[nodiscard]] std::vector<std::string> noise_lines(const DenoiseOptions& options,
                                                   const NoiseRecord& noise,
                                                   const RepairPlan& repair);

/// Returns the noise levels of a scene for progress reports. `planes` is the number of planes of a
/// frame.
[[nodiscard]] SceneLevels levels_of(const SceneNoise& scene, int planes);

/// Returns the methods of a scene with their parameters.
/// @throws InvalidArgument  a parameter is out of range
[[nodiscard]] ScenePlan scene_plan(const DenoiseOptions& options, const SceneNoise& scene,
                                   const io::VideoInfo& input);
/// Returns the methods of all scenes with their parameters.
/// @throws InvalidArgument  a parameter is out of range
[[nodiscard]] ClipPlan clip_plan(const DenoiseOptions& options, const NoiseRecord& noise,
                                 const io::VideoInfo& input);

}  // namespace lull::tools
