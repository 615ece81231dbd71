#pragma once
// The noise of a volume, found from its samples alone: its kind, its level, and where it varies.
// One deterministic code on the host.

#include <optional>
#include <string>

#include "noise/volume/cube_statistics.h"
#include "noise/volume/volume_noise.h"

namespace lull {

struct VolumeEstimate {
  /// A sigma of 0: there is no noise to speak of.
  VolumeNoise noise;
  float level = 0;   // in the middle of the volume's levels; without a map noise.sigma
  float air = 0;     // what the background says; 0: nothing
  float tissue = 0;  // what is brighter says; 0: nothing
  /// False: noise and structure look alike everywhere; `why` says what was seen, in a few words.
  bool certain = true;
  std::string why;
};

/// Where the greatest levels of a volume are so many times the least, they are followed.
inline constexpr float followed_variation = 1.3f;

/// @param kind  what is known; nothing: Rician where the background says so
/// @param zero  the sample on the 0..255 scale that stands for a magnitude of 0
[[nodiscard]] VolumeEstimate estimate_volume(const CubeCollector& collector,
                                             std::optional<NoiseKind> kind, float zero);

}  // namespace lull
