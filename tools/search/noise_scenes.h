#pragma once
// Estimates the noise of each scene of a clip. The noise may change with the ISO speed or the
// camera.

#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "noise/estimate/estimate.h"
#include "tools/noise/noise_record.h"

namespace lull::tools {

struct TimedExcerpt {
  double time_s = 0;  // pts of the first frame in seconds
  Excerpt frames{};
};

/// A function that receives frames one by one and returns whether it needs another frame.
using FrameConsumer = std::function<bool(Frame frame)>;
/// A function that reads frames from about `time_s` on and passes them to `take`, until `take`
/// needs no further frame or a read error occurs.
using FramesFrom = std::function<void(double time_s, const FrameConsumer& take)>;

/// Returns the noise of a scene. For coarse noise, the result also contains the noise at half size.
[[nodiscard]] SceneNoise scene_noise(double from_s, const std::vector<Excerpt>& excerpts,
                                     const NoiseEstimate& estimate);

/// Returns the noise level of means of 8x8 samples (NoiseEstimate::coarse) after the addition of
/// white noise with the standard deviation `error`. The white noise in such means has an eighth of
/// this standard deviation.
[[nodiscard]] inline float coarse_with(float coarse, float error) {
  return std::hypot(coarse, error / 8);
}

/// Adds the coding error of a scene to the noise at half size. Samples at half size are means of
/// 2x2 samples, so their coding error is half as large. If the sum is not coarse noise, the
/// function instead removes the noise at half size, so that lull does not filter at half size.
void add_codec_error_to_half(SceneNoise& scene);

[[nodiscard]] double time_of(const Frame& frame);
[[nodiscard]] std::vector<Excerpt> excerpts_of(std::span<const TimedExcerpt> excerpts);
/// Splits frames into excerpts of up to three consecutive frames.
[[nodiscard]] std::vector<Excerpt> split_excerpts(const std::vector<Frame>& frames);

/// Returns the scenes of a clip: groups of successive excerpts with similar noise levels. A scene
/// begins at the largest change of the picture between two excerpts.
/// @param excerpts  in the order of time; not empty
/// @param all  the estimate from all excerpts
/// @param codec_error  the coding error of the first plane
/// @param frames_from  reads the frames from a given time on; empty: the clip is one scene
[[nodiscard]] std::vector<SceneNoise> scenes_of(std::span<const TimedExcerpt> excerpts,
                                                const NoiseEstimate& all, float codec_error,
                                                const FramesFrom& frames_from);

/// Reads up to `count` frames, starting at about the time `time_s`.
[[nodiscard]] TimedExcerpt read_excerpt(const FramesFrom& frames_from, double time_s, int count);

}  // namespace lull::tools
