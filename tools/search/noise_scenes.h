#pragma once
// Estimates the noise of each scene of a clip, because the noise may change, for example after a
// change of ISO speed or camera.

#include <functional>
#include <span>
#include <vector>

#include "noise/estimate/estimate.h"
#include "tools/noise/noise_record.h"

namespace lull::tools {

/// Consecutive frames and the time at which they start.
struct TimedExcerpt {
  double time_s = 0;  // pts of the first frame in seconds
  Excerpt frames{};
};

/// A function that receives frames one by one and returns whether it needs more.
using FrameConsumer = std::function<bool(Frame frame)>;
/// A function that reads frames from about pts `time_s` on, and passes them to `take`. It does not
/// call `take` if it cannot read a frame.
using FramesFrom = std::function<void(double time_s, const FrameConsumer& take)>;

/// Returns the noise of a scene; if the noise is coarse, also the noise in frames of half the size.
[[nodiscard]] SceneNoise scene_noise(double from_s, const std::vector<Excerpt>& excerpts,
                                     const NoiseEstimate& estimate);

[[nodiscard]] double time_of(const Frame& frame);
[[nodiscard]] std::vector<Excerpt> excerpts_of(std::span<const TimedExcerpt> excerpts);
/// Splits frames into excerpts of up to three consecutive frames.
[[nodiscard]] std::vector<Excerpt> split_excerpts(const std::vector<Frame>& frames);

/// Returns the scenes of a clip. Each group of successive excerpts with similar noise levels is a
/// scene. A scene begins where the picture changes most between two excerpts with different levels.
/// Scenes without an excerpt are not detected.
/// @param excerpts  in the order of time; not empty
/// @param all  the estimate from all excerpts together
/// @param frames_from  reads frames of the clip; if it is empty, the clip is one scene
[[nodiscard]] std::vector<SceneNoise> scenes_of(std::span<const TimedExcerpt> excerpts,
                                                const NoiseEstimate& all,
                                                const FramesFrom& frames_from);

/// Reads up to `count` frames from about `time_s` on.
[[nodiscard]] TimedExcerpt read_excerpt(const FramesFrom& frames_from, double time_s, int count);

}  // namespace lull::tools
