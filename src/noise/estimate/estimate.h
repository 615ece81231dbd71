#pragma once
// The noise of pictures and clips, found from their samples alone. One deterministic code on the
// host: equal frames give equal estimates on every machine and for every number of threads.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/frame.h"
#include "noise/noise_model.h"

namespace lull {

/// Frames that follow one another, from one place of an input. What moves little between them shows
/// the noise; one alone is judged as a still picture. All looks have one format, and their samples
/// are in the host's memory.
using Look = std::vector<Frame>;

/// Standard deviation of a plane's noise where the first plane has a mean of `luma`, both on the
/// 0..255 scale.
struct LevelAtLuma {
  float luma = 0, level = 0;
};

struct NoiseEstimate {
  /// What filters take at strength 1. Of RGB it is said for the opponent space. A sigma of 0
  /// everywhere: there is no noise to speak of.
  NoiseModel noise;
  /// Standard deviations of the noise in samples as they are stored, on the 0..255 scale.
  std::array<float, 3> level{};
  /// Standard deviation of means over 8x8 samples of the first plane (of RGB: of Y), in the same
  /// unit: white noise has an eighth of its level there.
  float coarse = 0;
  /// False: the frames do not say, as texture and noise look alike in them; `noise` is the safe
  /// side, and `why` says what was seen, in a few words.
  bool certain = true;
  std::string why;
  /// Level of the first plane in each look, in their order; 0 where one does not say.
  std::vector<float> look_level{};
  /// Of clips, as far as their pictures say, rising in luma, in samples as they are stored.
  std::array<std::vector<LevelAtLuma>, 3> by_luma{};
};

/// @throws InvalidArgument  no frame, or frames of several formats or on a device
[[nodiscard]] NoiseEstimate estimate_noise(std::span<const Look> looks);

}  // namespace lull
