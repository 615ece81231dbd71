#pragma once
// Estimates the noise of pictures and clips from their samples alone. The code is deterministic and
// runs on the host: equal frames give equal estimates on every machine and for every number of
// threads.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/frame.h"
#include "noise/noise_model.h"

namespace lull {

/// An excerpt of an input: consecutive frames. Noise is measured in the differences between frames;
/// an excerpt of a single frame is estimated as a still picture. All excerpts have one format, and
/// their samples are in host memory.
using Excerpt = std::vector<Frame>;

/// Standard deviation of a plane's noise in areas where the mean of the first plane is `luma`. The
/// standard deviation and `luma` are on the 0..255 scale.
struct LevelAtLuma {
  float luma = 0, level = 0;
};

struct NoiseEstimate {
  /// The noise that filters remove at strength 1. For RGB, this noise model is given for the
  /// opponent space. If all sigmas are 0, there is no noticeable noise.
  NoiseModel noise;
  /// Standard deviation of the noise in the samples of each stored plane, on the 0..255 scale.
  std::array<float, 3> level{};
  /// Standard deviation of the noise that remains in means of 8x8 samples of the first plane (for
  /// RGB: of Y), on the 0..255 scale. For white noise, it is an eighth of the level.
  float coarse = 0;
  /// If false, the estimate is uncertain because texture and noise look alike in the frames.
  /// `noise` is then a safe low value, and `why` states the observation in a few words.
  bool certain = true;
  std::string why;
  /// Share of the energy of flat blocks that the noise explains, 0..1. The rest is texture. Still
  /// pictures with a low value have hardly a block without texture, so that their estimate is less
  /// reliable. For clips the share is 1, because the compensation of motion removes texture.
  float confidence = 1;
  /// Noise level of the first plane in each excerpt, in the order of the excerpts; 0 if an excerpt
  /// gives no estimate.
  std::vector<float> excerpt_level{};
  /// Noise levels of each plane as a function of luma, for clips. The elements are in the order of
  /// increasing luma. There are elements only for values of luma that occur in the pictures. Noise
  /// levels refer to stored samples.
  std::array<std::vector<LevelAtLuma>, 3> by_luma{};
  /// Standard deviation of the error of a lossy codec that `noise` contains in addition to the
  /// measured levels, on the 0..255 scale (codec_error.h). Noise files do not store it.
  std::array<float, 3> codec_error{};
};

/// Estimates the noise of the excerpts of one input.
/// @throws InvalidArgument  there is no frame, the frames have different formats, or a frame is in
/// device memory
[[nodiscard]] NoiseEstimate estimate_noise(std::span<const Excerpt> excerpts);

}  // namespace lull
