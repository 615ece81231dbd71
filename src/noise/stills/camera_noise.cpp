#include "noise/stills/camera_noise.h"

#include <algorithm>
#include <cmath>

// The constants come from measurements on half of the photographs of Nam et al. 2016 and Xu et al.
// 2018 (docs/measurements/noise-estimation.md).

namespace lull {
namespace {

/// Maximum level of the lowest frequencies, relative to the middle frequencies. Shading and soft
/// edges exceed the limit.
constexpr double max_slope = 3;

/// Filters use a weighted geometric mean of the measured level and a typical camera level. The
/// typical level reduces two errors of the measured level: codecs make the level of weak noise too
/// low, and texture makes the level of strong noise too high.
constexpr double typical_level = 6;         // level of the lowest frequencies of luma
constexpr double measurement_weight = 0.6;  // weight of the measured level, in logarithms
constexpr double max_gain = 3.2;

/// Filters assume a higher noise level than the measured level, because camera noise is uneven and
/// has strong low frequencies. For a measured level of `typical_level`, filters assume `strength`
/// times this level. `spectrum_exponent` flattens the assumed spectrum.
constexpr double strength = 1.6;
constexpr double spectrum_exponent = 0.2;  // exponent of the spectrum's shape
/// The assumed noise variance of the block mean, DCT coefficient (0, 0), is this factor times the
/// larger of the variances of the coefficients (0, 1) and (1, 0).
constexpr double mean_gain = 2;
/// Assumed level of chroma noise, relative to the level that independent noise in R, G and B would
/// cause. The value exceeds 1, because cameras have stronger chroma noise.
constexpr double chroma = 1.2;

/// The correction of camera noise decreases with two values: the level d of fine frequencies
/// (FlatBlockSpectrum::detail), and the ratio r of d to the level of the lowest frequencies. The
/// correction is complete if d <= `soft_detail` or r <= `soft_share`, and vanishes if d >=
/// `sharp_detail` and r >= `sharp_share`.
constexpr double soft_detail = 4.5, sharp_detail = 8;
constexpr double soft_share = 0.25, sharp_share = 0.6;

/// The correction of camera noise also depends on the noise level at the lowest frequencies, on the
/// 0..255 scale, which is at most 19 in camera pictures. From `max_camera_level` on, the correction
/// decreases as this level increases, and vanishes at `min_synthetic_level`.
constexpr double max_camera_level = 20, min_synthetic_level = 28;

/// Returns a linear ramp, clamped to 0..1. The result is 0 if `value` is `none`, and 1 if `value`
/// is `all`.
double ramp(double value, double none, double all) {
  return std::clamp((value - none) / (all - none), 0.0, 1.0);
}

/// Returns the geometric interpolation between `a` (share 0) and `b` (share 1).
double geometric_mix(double a, double b, double share) { return a * std::pow(b / a, share); }

}  // namespace

CameraNoise camera_noise(const FlatBlockSpectrum& luma) {
  const double lowest = band_level(luma.table, 1, 2), middle = band_level(luma.table, 3, 4);
  const double level = std::min(lowest, max_slope * middle);
  CameraNoise noise;
  if (!(level > 0)) return noise;
  const double gain =
      std::clamp(strength * std::pow(typical_level / level, 1 - measurement_weight), 1.0, max_gain);
  noise.sharpness = ramp(luma.detail, soft_detail, sharp_detail) *
                    ramp(luma.detail / lowest, soft_share, sharp_share);
  const double synthetic =
      std::max(noise.sharpness, ramp(level, max_camera_level, min_synthetic_level));
  const double times = geometric_mix(gain, 1, synthetic),
               exponent = geometric_mix(spectrum_exponent, 1, synthetic);
  for (int k = 1; k < 64; ++k) {
    const double share =
        std::clamp(static_cast<double>(luma.table[k]) / (lowest * lowest), 1e-5, 1.0);
    noise.measured[k] = static_cast<float>(level * level * share);
    noise.filtered[k] =
        static_cast<float>(times * times * level * level * std::pow(share, exponent));
  }
  noise.measured[0] = std::max(noise.measured[1], noise.measured[8]);
  noise.filtered[0] = static_cast<float>(geometric_mix(mean_gain, 1, synthetic)) *
                      std::max(noise.filtered[1], noise.filtered[8]);
  noise.chroma = geometric_mix(chroma * chroma, 1, synthetic);
  return noise;
}

CoefficientTable subsampled(const CoefficientTable& luma, int shift_x, int shift_y, double gain) {
  CoefficientTable table;
  const double density = gain / ((1 << shift_x) * (1 << shift_y));
  const auto at = [&](int k, int shift, int& below, double& ramp) {
    const double place = static_cast<double>(k) / (1 << shift);
    below = std::min(static_cast<int>(place), 6);
    ramp = place - below;
  };
  for (int v = 0; v < 8; ++v)
    for (int u = 0; u < 8; ++u) {
      int y, x;
      double py, px;
      at(v, shift_y, y, py);
      at(u, shift_x, x, px);
      const auto value = [&](int j, int i) { return static_cast<double>(luma[j * 8 + i]); };
      table[v * 8 + u] = static_cast<float>(
          density * std::lerp(std::lerp(value(y, x), value(y, x + 1), px),
                              std::lerp(value(y + 1, x), value(y + 1, x + 1), px), py));
    }
  return table;
}

}  // namespace lull
