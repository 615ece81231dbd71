#include "noise/estimate/camera_noise.h"

#include <algorithm>
#include <cmath>

// The constants were chosen on half of the photographs of Nam et al. 2016 and of Xu et al. 2018
// (docs/measurements/noise-estimation.md has what each is worth).

namespace lull {
namespace {

/// The lowest frequencies hold shading and soft edges too: they count at most so many times the
/// level of the middle ones.
constexpr double steepest = 3;

/// Codecs take the noise of quiet blocks, all but the strong; texture adds to what is read where
/// noise is strong. So filters are told of levels nearer to that of a camera at high sensitivity.
constexpr double usual_level = 6;  // of the lowest frequencies of luma
constexpr double trust = 0.6;      // weight of what is read, of logarithms
constexpr double most_raised = 3.2;

/// Noise of cameras is coarser than blocks are, and stronger in some places than in others, so that
/// more is to be taken away than its mean: so many times that, at the usual level. And what quiet
/// blocks lack at finer frequencies, others need not lack.
constexpr double strength = 1.6;
constexpr double contrast = 0.2;  // of the spectrum, of logarithms
constexpr double coarser = 2;     // the mean of a block over the lowest frequencies, in variances
/// Chroma's is coarser than luma's, and stronger than if red, green and blue shared none.
constexpr double chroma = 1.2;

/// Cameras' pictures with coarse noise are soft: fine frequencies hold up to 5 levels in those of
/// the two sets, scaled or drawn ones more. Where they do, and as much as these shares of the
/// lowest frequencies of the noise, detail is at stake: there no more is taken than what is seen.
constexpr double soft_detail = 4.5, sharp_detail = 8;
constexpr double soft_share = 0.25, sharp_share = 0.6;

/// Cameras' lowest frequencies read up to 19 levels of luma. What reads more is taken as it is
/// seen.
constexpr double beyond_cameras = 20, far_beyond = 28;

/// 0 from `none` down, 1 from `all` up.
double part(double value, double none, double all) {
  return std::clamp((value - none) / (all - none), 0.0, 1.0);
}

/// From a to b, geometrically.
double between(double a, double b, double share) { return a * std::pow(b / a, share); }

}  // namespace

CameraNoise camera_noise(const QuietSpectrum& luma) {
  const double lowest = band_level(luma.table, 1, 2), middle = band_level(luma.table, 3, 4);
  const double read = std::min(lowest, steepest * middle);
  CameraNoise noise;
  if (!(read > 0)) return noise;
  const double raised =
      std::clamp(strength * std::pow(usual_level / read, 1 - trust), 1.0, most_raised);
  noise.sharpness = part(luma.detail, soft_detail, sharp_detail) *
                    part(luma.detail / lowest, soft_share, sharp_share);
  const double made = std::max(noise.sharpness, part(read, beyond_cameras, far_beyond));
  const double times = between(raised, 1, made), exponent = between(contrast, 1, made);
  for (int k = 1; k < 64; ++k) {
    const double share =
        std::clamp(static_cast<double>(luma.table[k]) / (lowest * lowest), 1e-5, 1.0);
    noise.seen[k] = static_cast<float>(read * read * share);
    noise.told[k] = static_cast<float>(times * times * read * read * std::pow(share, exponent));
  }
  noise.seen[0] = std::max(noise.seen[1], noise.seen[8]);
  noise.told[0] =
      static_cast<float>(between(coarser, 1, made)) * std::max(noise.told[1], noise.told[8]);
  noise.chroma = between(chroma * chroma, 1, made);
  return noise;
}

CoefficientTable subsampled(const CoefficientTable& luma, int shift_x, int shift_y, double gain) {
  CoefficientTable table;
  const double density = gain / ((1 << shift_x) * (1 << shift_y));
  const auto at = [&](int k, int shift, int& below, double& part) {
    const double place = static_cast<double>(k) / (1 << shift);
    below = std::min(static_cast<int>(place), 6);
    part = place - below;
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
