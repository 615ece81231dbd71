#include "noise/stills/camera_noise.h"

#include <algorithm>
#include <cmath>

// The constants of this file were chosen on half of the photographs of Nam et al. 2016 and of Xu et
// al. 2018. docs/measurements/noise-estimation.md states the gain of each constant.

namespace lull {
namespace {

/// Maximum level of the lowest frequencies, in units of the level of the middle frequencies. The
/// limit excludes shading and soft edges.
constexpr double max_slope = 3;

/// Filters assume a weighted mean of the measured noise level and the noise level of a camera at
/// high sensitivity. If noise is weak, the measured level is too low, because codecs remove weak
/// noise from flat blocks. If noise is strong, the measured level is too high, because it includes
/// texture.
constexpr double typical_level = 6;         // level of the lowest frequencies of luma
constexpr double measurement_weight = 0.6;  // weight of the measured level, in logarithms
constexpr double max_gain = 3.2;

/// For noise of the level `typical_level`, filters assume `strength` times the measured level,
/// because camera noise is coarser than a block and varies between areas. The exponent
/// `spectrum_exponent` makes the assumed spectrum flatter than the measured spectrum, because flat
/// blocks may lack fine frequencies that other blocks have.
constexpr double strength = 1.6;
constexpr double spectrum_exponent = 0.2;  // exponent of the spectrum's shape
// Variance of the means of blocks, divided by the noise variance at the lowest frequencies.
constexpr double mean_gain = 2;
/// Factor of the chroma level that filters assume, relative to independent noise in red, green and
/// blue. The chroma noise of cameras is stronger than for independent noise, and coarser than luma
/// noise.
constexpr double chroma = 1.2;

/// Limits for the level of fine frequencies (detail), and for its ratio to the level of the lowest
/// frequencies (share). Scaled and synthetic pictures exceed the two `sharp` limits, and filters
/// get only the measured level. Camera pictures with coarse noise stay below the `soft` limits, and
/// filters get the corrected level. In between, the transition is gradual.
constexpr double soft_detail = 4.5, sharp_detail = 8;
constexpr double soft_share = 0.25, sharp_share = 0.6;

/// Luma noise of camera pictures has a level of at most 19 at the lowest frequencies. From
/// `min_synthetic_level` on, filters get the measured level without correction. The transition
/// begins at `max_camera_level`.
constexpr double max_camera_level = 20, min_synthetic_level = 28;

/// Returns a linear ramp, which rises from 0 at `none` to 1 at `all`.
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
