#pragma once
// Variance stabilisation of one sample of a volume on the 0..255 scale, and its inverse. The
// results of the host and of GPUs are equal bit for bit if the compiler does not fuse products and
// sums. `root` is a function that returns the square root of a float.

#include "noise/volume/rician.h"
#include "noise/volume/volume_noise.h"

namespace lull {

/// Range in which the inverse function for Rician noise shrinks results towards 0. Without
/// shrinkage, noise in the filter's results would give air a positive mean, because the inverse is
/// steep at 0 and never negative. For results of BM4D, the mean of air is 0.06 sigma instead of
/// 0.11 sigma. From a true value of 0.8 sigma on, shrinkage has no effect.
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

  /// Stabilises the sample `v` of a voxel whose noise level is `level`.
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
