#pragma once
// Estimates the noise of a volume from its samples alone: the kind and the level of the noise, and
// the variation of the level in space. The code runs on the host and is deterministic.

#include <optional>
#include <string>

#include "noise/volume/cube_statistics.h"
#include "noise/volume/volume_noise.h"

namespace lull {

struct VolumeEstimate {
  /// The estimated noise. A sigma of 0 means that there is no noticeable noise.
  VolumeNoise noise;
  float level = 0;   // median level over the volume; noise.sigma if there is no map
  float air = 0;     // level estimated from the background; 0: there is no estimate
  float tissue = 0;  // level estimated from brighter cubes; 0: there is no estimate
  /// False if the estimator cannot distinguish noise and structure anywhere in the volume. `why`
  /// then describes the reason in a few words.
  bool certain = true;
  std::string why;
};

/// Minimum ratio of the highest to the lowest noise level in a volume. If the ratio is lower, the
/// estimate contains no noise map.
inline constexpr float followed_variation = 1.3f;

/// Estimates the noise of a volume from the statistics of its cubes.
/// @param kind  known kind of noise; if empty, the kind is Rician if the background shows Rician
///     noise, and otherwise Gaussian
/// @param zero  the sample on the 0..255 scale that represents a magnitude of 0
[[nodiscard]] VolumeEstimate estimate_volume(const CubeCollector& collector,
                                             std::optional<NoiseKind> kind, float zero);

}  // namespace lull
