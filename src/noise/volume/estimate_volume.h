#pragma once
// Estimates the noise of a volume from its samples alone: the kind and the level of the noise, and
// how the level varies in space. The estimate is computed on the host and is deterministic.

#include <optional>
#include <string>

#include "noise/volume/cube_statistics.h"
#include "noise/volume/volume_noise.h"

namespace lull {

struct VolumeEstimate {
  /// Estimated noise. A sigma of 0 means that there is no noticeable noise.
  VolumeNoise noise;
  float level = 0;   // median level over the volume; noise.sigma if there is no map
  float air = 0;     // level estimated from the background; 0: there is no estimate
  float tissue = 0;  // level estimated from brighter cubes; 0: there is no estimate
  /// If false, noise and structure are indistinguishable everywhere. `why` then states the
  /// observation in a few words.
  bool certain = true;
  std::string why;
};

/// The estimate contains a noise map if the highest noise levels of a volume exceed the lowest
/// noise levels by at least this factor.
inline constexpr float followed_variation = 1.3f;

/// Estimates the noise of a volume from the statistics of its cubes.
/// @param kind known kind of noise; empty: the noise is Rician if the background shows this, and
/// Gaussian if not
/// @param zero  the sample on the 0..255 scale that represents a magnitude of 0
[[nodiscard]] VolumeEstimate estimate_volume(const CubeCollector& collector,
                                             std::optional<NoiseKind> kind, float zero);

}  // namespace lull
