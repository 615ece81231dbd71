#pragma once
// Clips whose noise changes from scene to scene: another ISO, another camera.

#include <functional>
#include <span>
#include <vector>

#include "noise/estimate/estimate.h"
#include "tools/noise/noise_record.h"

namespace lull::tools {

/// Frames that follow one another, and when they begin.
struct TimedExcerpt {
  double time_s = 0;  // of the first one's pts
  Excerpt frames{};
};

/// Takes frames one by one as long as it says that it wants more.
using FrameConsumer = std::function<bool(Frame frame)>;
/// Gives frames from about a time on, by pts; none where nothing can be read.
using FramesFrom = std::function<void(double time_s, const FrameConsumer& take)>;

/// What these excerpts say, of whole frames and, where the noise is so coarse, of halves.
[[nodiscard]] SceneNoise scene_noise(double from_s, const std::vector<Excerpt>& excerpts,
                                     const NoiseEstimate& estimate);

[[nodiscard]] double time_of(const Frame& frame);
[[nodiscard]] std::vector<Excerpt> excerpts_of(std::span<const TimedExcerpt> excerpts);
/// Looks of up to three frames each, spread over these.
[[nodiscard]] std::vector<Excerpt> split_excerpts(const std::vector<Frame>& frames);

/// The scenes of a clip: one if the level of the noise is about the same in all excerpts, else one for
/// each run of excerpts in which it is, which begins where the picture changes most between the two
/// excerpts that differ. Scenes that no look fell into are not known.
/// @param excerpts  in the order of time; not empty
/// @param all  the estimate of all excerpts together
/// @param frames_from  may be empty: then there is one scene
[[nodiscard]] std::vector<SceneNoise> scenes_of(std::span<const TimedExcerpt> excerpts,
                                                const NoiseEstimate& all,
                                                const FramesFrom& frames_from);

/// Up to `count` frames from about `time_s` on.
[[nodiscard]] TimedExcerpt read_excerpt(const FramesFrom& frames_from, double time_s, int count);

}  // namespace lull::tools
