#pragma once
// Variance stabilisation of one voxel on the 0..255 scale, and its inverse. If no compiler fuses
// multiplications and additions, the results of host and GPU are equal bit for bit. `root` computes
// the square root of a float.

#include "noise/volume/rician.h"
#include "noise/volume/volume_noise.h"

namespace lull {

/// Range above E[f(z) | 0] in which the inverse for Rician noise shrinks filter results towards 0.
/// In results of BM4D, this shrinkage reduces the mean of air from 0.11 * sigma to 0.06 * sigma.
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
