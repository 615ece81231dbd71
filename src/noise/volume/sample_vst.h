#pragma once
// The variance stabilisation of one sample of a volume, on the 0..255 scale, and its inverse.
// Results are bit for bit equal on the host and on GPUs if the compiler does not fuse products and
// sums. `root` computes the square root of floats.

#include "noise/volume/rician.h"
#include "noise/volume/volume_noise.h"

namespace lull {

/// `shrink_range` of the RicianStabiliser (rician.h) that inverts the results of filters.
inline constexpr double rician_shrink_range = 0.08;

struct SampleVst {
  bool rician = false;
  float zero = 0, sigma = 0;  // `zero` and `sigma` of VolumeNoise
  RicianInverse inverse;

  SampleVst(const VolumeNoise& noise, const RicianInverse& rician_inverse)
      : rician(noise.kind == NoiseKind::rician),
        zero(noise.zero),
        sigma(noise.sigma),
        inverse(rician_inverse) {}

  /// Stabilises the sample `v` of a voxel with the noise level `level`.
  template <class Root>
  constexpr float stabilise(float v, float level, Root root) const {
    return rician ? zero + sigma * rician_root((v - zero) / level, root) : v * (sigma / level);
  }
  template <class Root>
  constexpr float invert(float v, float level, Root root) const {
    return rician ? zero + level * inverse((v - zero) / sigma, root) : v * (level / sigma);
  }
};

}  // namespace lull
