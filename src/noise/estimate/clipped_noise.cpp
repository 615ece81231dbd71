#include "noise/estimate/clipped_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "core/plane.h"
#include "core/samples.h"
#include "noise/stabiliser.h"

namespace lull {
namespace {

/// Below this standard deviation of the noise, on the 0..255 scale, clipping hardly changes the
/// variance.
constexpr float min_level = 4;
/// If more than this share of a plane's samples have an extreme value and a neighbour with another
/// value, the extreme value is a clipping limit.
constexpr double min_share = 0.03;

/// The new noise curve of a plane. Null: no change.
struct NewCurve {
  std::shared_ptr<const NoiseCurve> curve;
  float strength = 1;  // the level that filters remove, in units of the noise level of the curve
};
using NewCurves = std::array<NewCurve, 3>;

int clipped_planes(Layout layout) { return layout == Layout::rgb ? 3 : 1; }

bool is_strong(const PlaneNoise& noise) { return noise.level_in_samples() >= min_level; }

/// Minimum and maximum of a plane, and the shares of samples with these two values.
struct SampleRange {
  float low = 255, high = 0;
  double share_at_low = 0, share_at_high = 0;
};

/// Calls `use` with plane `i` of the first frame of each excerpt, on the 0..255 scale, one plane at
/// a time.
template <class Use>
void for_first_planes(std::span<const Excerpt> excerpts, int i, Use use) {
  const FrameFormat& format = excerpts.front().front().format;
  Plane<float> samples(format.plane_width(i), format.plane_height(i));
  for (const Excerpt& excerpt : excerpts) {
    load_plane(excerpt.front(), i, samples.view());
    use(samples.view());
  }
}

/// Finds the minimum and the maximum of a plane, and the shares of samples with these two values.
/// The shares do not include samples in flat areas, whose neighbours have equal values.
SampleRange range_of(std::span<const Excerpt> excerpts, int i) {
  SampleRange range;
  double count = 0;
  for_first_planes(excerpts, i, [&](PlaneView<const float> samples) {
    for (int y = 0; y < samples.height; ++y)
      for (int x = 0; x < samples.width; ++x) {
        range.low = std::min(range.low, samples(x, y));
        range.high = std::max(range.high, samples(x, y));
      }
  });
  for_first_planes(excerpts, i, [&](PlaneView<const float> samples) {
    for (int y = 0; y < samples.height; ++y) {
      const float* row = samples.row(y);
      for (int x = 1; x + 1 < samples.width; ++x, ++count) {
        const auto is_noisy_at = [&](float end) {
          return row[x] == end && (row[x - 1] != end || row[x + 1] != end);
        };
        range.share_at_low += is_noisy_at(range.low) ? 1 : 0;
        range.share_at_high += is_noisy_at(range.high) ? 1 : 0;
      }
    }
  });
  range.share_at_low /= std::max(count, 1.0);
  range.share_at_high /= std::max(count, 1.0);
  return range;
}

/// Returns the clipping limits for noise with the standard deviation `level`.
Clipping clipping_in(const SampleRange& range, float level) {
  Clipping clipping{.level = level};
  // A constant plane has no clipping limits.
  if (!(range.low < range.high)) return clipping;
  if (range.share_at_low > min_share && range.low < 255) clipping.low = range.low;
  if (range.share_at_high > min_share && range.high > 0) clipping.high = range.high;
  return clipping;
}

PlaneClipping clipping_in_samples(const NoiseModel& noise, std::span<const Excerpt> excerpts) {
  PlaneClipping clipping;
  for (int i = 0; i < clipped_planes(excerpts.front().front().format.layout); ++i)
    if (const float level = noise.plane(i).level_in_samples(); level >= min_level)
      clipping[i] = clipping_in(range_of(excerpts, i), level);
  return clipping;
}

/// Returns whether float samples are probably clipped. The result is true if all samples of the
/// first frame of each excerpt lie within 0..white. The function ignores NaN.
bool lie_within_scale(std::span<const Excerpt> excerpts) {
  const FrameFormat& format = excerpts.front().front().format;
  if (format.sample != SampleType::f32) return true;
  constexpr float rounding = 1e-3f;  // rounding errors of products with the scale
  bool within = true;
  for (int i = 0; i < clipped_planes(format.layout); ++i)
    for_first_planes(excerpts, i, [&](PlaneView<const float> samples) {
      for (int y = 0; y < samples.height; ++y)
        for (int x = 0; x < samples.width; ++x)
          within &= !(samples(x, y) < -rounding || samples(x, y) > 255 + rounding);
    });
  return within;
}

NoiseCurve flat_curve(float level) {
  NoiseCurve curve;
  curve.sigma.fill(level);
  return curve;
}

std::shared_ptr<const NoiseCurve> with_limits(NoiseCurve curve, const Clipping& clipping) {
  if (std::isfinite(clipping.low)) curve.low = clipping.low;
  if (std::isfinite(clipping.high)) curve.high = clipping.high;
  return std::make_shared<NoiseCurve>(curve);
}

NewCurve clipped_curve(const PlaneNoise& plane, const Clipping& clipping) {
  if (!(plane.sigma > 0) || !clipping.any()) return {};
  if (!plane.curve)
    return {with_limits(flat_curve(clipping.level), clipping), plane.sigma / clipping.level};
  auto curve = with_limits(*plane.curve, clipping);
  const bool known = curve->low == plane.curve->low && curve->high == plane.curve->high;
  return {known ? nullptr : std::move(curve)};
}

/// Returns `noise` with the new noise curves in `curves`. Filters process samples that these curves
/// stabilise. The sigma of each plane with a new curve therefore becomes the noise level of the
/// stabilised samples.
NoiseModel with_curves(const NoiseModel& noise, const NewCurves& curves) {
  NoiseModel result = noise;
  // An opponent-space model has no separate noise levels for R, G and B. The function therefore
  // multiplies the complete model by the largest of the three ratios of the new level to the old
  // level.
  std::optional<float> strongest;
  for (int i = 0; i < 3; ++i) {
    const auto& [curve, strength] = curves[i];
    if (!curve) continue;
    const PlaneNoise& plane = noise.plane(i);
    const float before = plane.curve ? stabilised_sigma(*plane.curve) : plane.sigma;
    const float ratio = stabilised_sigma(*curve) / before * strength;
    if (noise.is_of_opponents())
      strongest = std::max(strongest.value_or(ratio), ratio);
    else
      result.plane(i).sigma = plane.sigma * ratio;
    result.plane(i).curve = curve;
  }
  return strongest ? scaled(result, *strongest) : result;
}

/// Returns the noise level of a plane before clipping. If the estimate is certain, and if its level
/// is much lower than the given level, the function returns the estimated level. Otherwise, it
/// returns the given level.
float clipped_level(const PlaneNoise& given, const NoiseEstimate& estimate, int plane) {
  constexpr float same_level = 1.3f;  // estimates are within 15 % of the noise, seldom 30 %
  const float level = given.level_in_samples(), found = estimate.level[plane];
  const bool is_weaker = estimate.certain && found * same_level < level;
  return is_weaker && !given.curve ? found : level;
}

}  // namespace

bool Clipping::any() const { return std::isfinite(low) || std::isfinite(high); }

bool may_show_clipping(const NoiseModel& noise, Layout layout) {
  for (int i = 0; i < clipped_planes(layout); ++i)
    if (is_strong(noise.plane(i))) return true;
  return false;
}

PlaneClipping find_clipping(const NoiseModel& noise, std::span<const Excerpt> given) {
  std::vector<Excerpt> excerpts(given.begin(), given.end());
  std::erase_if(excerpts, [](const Excerpt& excerpt) { return excerpt.empty(); });
  if (excerpts.empty() || !lie_within_scale(excerpts)) return {};
  PlaneClipping clipping = clipping_in_samples(noise, excerpts);
  if (std::ranges::none_of(clipping, &Clipping::any)) return {};
  const NoiseEstimate estimate = estimate_noise(excerpts);
  for (int i = 0; i < 3; ++i) {
    if (!clipping[i].any()) continue;
    // Too high a noise level would turn dark areas black.
    clipping[i].level = clipped_level(noise.plane(i), estimate, i);
    if (clipping[i].level < min_level) clipping[i] = {};
  }
  return clipping;
}

NoiseModel with_clipping(const NoiseModel& noise, const PlaneClipping& clipping) {
  NewCurves curves;
  for (int i = 0; i < 3; ++i) curves[i] = clipped_curve(noise.plane(i), clipping[i]);
  return with_curves(noise, curves);
}

PlaneClipping clipping_of(const NoiseModel& noise) {
  PlaneClipping clipping;
  for (int i = 0; i < 3; ++i)
    if (const auto& curve = noise.plane(i).curve)
      clipping[i] = {curve->low, curve->high, curve->level()};
  return clipping;
}

void add_clip_limits(std::span<const Excerpt> excerpts,
                     const std::shared_ptr<const NoiseCurve>& measured, NoiseEstimate& estimate) {
  const NoiseModel& noise = estimate.noise;
  const PlaneClipping clipping = clipping_in_samples(noise, excerpts);
  NewCurves curves;
  for (int i = 0; i < clipped_planes(excerpts.front().front().format.layout); ++i) {
    const float level = noise.sigma(i);
    if (level == 0) continue;
    const auto& known = measured ? measured : noise.plane(i).curve;
    curves[i].curve = !clipping[i].any()
                          ? measured
                          : with_limits(known ? *known : flat_curve(level), clipping[i]);
  }
  estimate.noise = with_curves(noise, curves);
}

}  // namespace lull
