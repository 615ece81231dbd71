#pragma once
// Noise whose level depends on the brightness, and clipped noise.

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "core/plane.h"
#include "noise/noise_model.h"
#include "noise/stabiliser.h"

namespace lull::test_support {

/// Returns the variance gain * y + variance, the noise of photons and of a sensor (Foi et al.
/// 2008).
inline NoiseCurve poissonian(double gain, double variance) {
  NoiseCurve curve;
  for (int k = 0; k < NoiseCurve::knots; ++k)
    curve.sigma[k] = static_cast<float>(
        std::sqrt(gain * k * static_cast<double>(NoiseCurve::spacing) + variance));
  return curve;
}

inline NoiseCurve clipped(NoiseCurve curve) {
  curve.low = 0;
  curve.high = 255;
  return curve;
}

/// Returns the noise that follows `curve` exactly.
inline PlaneNoise noise_of(const NoiseCurve& curve) {
  return {stabilised_sigma(curve), nullptr, std::make_shared<NoiseCurve>(curve)};
}

inline Plane<float> with_noise(PlaneView<const float> clean, const NoiseCurve& curve,
                               unsigned seed = 1) {
  std::mt19937 rng{seed};
  std::normal_distribution<float> normal{0, 1};
  Plane<float> result(clean.width, clean.height);
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x)
      result.view()(x, y) =
          std::clamp(clean(x, y) + curve.at(clean(x, y)) * normal(rng), curve.low, curve.high);
  return result;
}

}  // namespace lull::test_support
