#pragma once
// What becomes of a sample of a volume whose noise is made even, on the 0..255 scale: the same to
// the bit on the host and on GPUs, where no product is fused with a sum. `root`: the square root of
// floats.

#include "noise/volume/rician.h"
#include "noise/volume/volume_noise.h"

namespace lull {

/// Of results of filters (rician.h).
inline constexpr double rician_doubt = 0.08;

struct EvenSamples {
  bool rician = false;
  float zero = 0, sigma = 0;  // as of VolumeNoise
  RicianInverse inverse;

  EvenSamples(const VolumeNoise& noise, const RicianInverse& way_back)
      : rician(noise.kind == NoiseKind::rician),
        zero(noise.zero),
        sigma(noise.sigma),
        inverse(way_back) {}

  /// Of sample `v`, where the noise has this level.
  template <class Root>
  constexpr float made_even(float v, float level, Root root) const {
    return rician ? zero + sigma * rician_root((v - zero) / level, root) : v * (sigma / level);
  }
  template <class Root>
  constexpr float brought_back(float v, float level, Root root) const {
    return rician ? zero + level * inverse((v - zero) / sigma, root) : v * (level / sigma);
  }
};

}  // namespace lull
