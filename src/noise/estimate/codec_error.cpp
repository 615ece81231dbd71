#include "noise/estimate/codec_error.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "noise/stabiliser.h"

namespace lull {
namespace {

/// Standard deviation of the coding error, in quantisation steps. The error of rounding is 0.29
/// steps. The coding error is smaller, because the codec predicts from earlier frames.
constexpr float error_per_step = 0.2f;
/// Factor of the coding error in clips with large dark areas. Outside the dark areas, the
/// quantisation step exceeds the mean step of the frame, so the coding error also exceeds
/// error_per_step times the mean step.
constexpr float with_dark_areas = 1.25f;
/// In clips without measured noise, add_codec_error() adds only a share of the coding error to the
/// noise. The share is 0 if the quantisation step of luma is `fine_step`, and rises to 1 at
/// `coarse_step`.
constexpr float fine_step = 12, coarse_step = 24;
/// If a plane has no noise curve, add_white() makes a curve with one constant level. The constant
/// level is the measured noise level, but at least `min_codec_level`.
constexpr float min_codec_level = 0.5f;

std::shared_ptr<const NoiseCurve> flat_codec_curve(float level) {
  auto curve = std::make_shared<NoiseCurve>();
  curve->sigma.fill(level);
  return curve;
}

/// Returns the noise curve for the noise of `curve` plus white noise with the standard deviation
/// `error`. The function scales the result to the level of `curve`.
std::shared_ptr<const NoiseCurve> flattened(const NoiseCurve& curve, float error) {
  auto sum = std::make_shared<NoiseCurve>(curve);
  for (float& sigma : sum->sigma) sigma = std::sqrt(sigma * sigma + error * error);
  const float scale = curve.level() / sum->level();
  for (float& sigma : sum->sigma) sigma *= scale;
  return sum;
}

/// Adds white noise with the standard deviation `error` to a plane. The coding error raises the
/// sigma of the plane, but not the level of its noise curve, because sessions detect repeated
/// frames by this level.
void add_white(float error, float level, PlaneNoise& plane) {
  const float found = std::max(level, min_codec_level);
  if (!plane.curve || !(plane.sigma > 0)) {
    plane.curve = flat_codec_curve(found);
    plane.sigma = stabilised_sigma(*plane.curve) * std::hypot(level, error) / found;
  } else {
    const float strength = plane.sigma / stabilised_sigma(*plane.curve);
    const float curve_level = plane.curve->level();
    auto curve = flattened(*plane.curve, error / strength);
    plane.sigma =
        stabilised_sigma(*curve) * std::hypot(curve_level * strength, error) / curve_level;
    plane.curve = std::move(curve);
  }
  if (!plane.correlation) return;
  auto correlation = std::make_shared<Autocorrelation>(*plane.correlation);
  const float share = level * level / (level * level + error * error);
  for (float& r : *correlation) r *= share;
  (*correlation)[lag_index(0, 0)] = 1;
  plane.correlation = std::move(correlation);
}

}  // namespace

void add_codec_error(const std::array<float, 3>& steps, Layout layout, NoiseEstimate& estimate) {
  if (layout == Layout::rgb || estimate.excerpt_level.empty() || !(steps[0] > 0)) return;
  const bool is_noisy = std::ranges::any_of(estimate.level, [](float level) { return level > 0; });
  const float share =
      is_noisy ? 1 : std::clamp((steps[0] - fine_step) / (coarse_step - fine_step), 0.0f, 1.0f);
  if (share == 0) return;
  const float per_step =
      share * error_per_step * (estimate.has_dark_areas && is_noisy ? with_dark_areas : 1);
  const int planes = layout == Layout::gray ? 1 : 3;
  std::array<float, 3> error{};
  for (int i = 0; i < planes; ++i) error[i] = per_step * steps[i];
  add_white_error(error, estimate);
}

void add_white_error(const std::array<float, 3>& error, NoiseEstimate& estimate) {
  for (int i = 0; i < 3; ++i)
    if (error[i] > 0) {
      add_white(error[i], estimate.level[i], estimate.noise.plane(i));
      estimate.codec_error[i] = error[i];
    }
}

}  // namespace lull
