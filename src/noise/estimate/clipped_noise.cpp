#include "noise/estimate/clipped_noise.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/plane.h"
#include "core/samples.h"
#include "noise/stabiliser.h"

namespace lull {
namespace {

/// Weaker noise loses hardly any variance at the limits.
constexpr float min_level = 4;
/// Minimum share of samples that lie at a limit next to samples that do not.
constexpr double min_share = 0.03;

/// Minimum and maximum of a plane's samples.
struct PlaneLimits {
  float low = 255, high = 0;
  double at_low = 0, at_high = 0;  // share of samples at that value
};

/// A sample at a limit counts only if a horizontal neighbour is not at it, because black bars and
/// burnt-out skies are flat.
PlaneLimits limits_of(std::span<const Excerpt> excerpts, int plane) {
  PlaneLimits limits;
  double count = 0;
  std::vector<Plane<float>> planes;
  for (const Excerpt& excerpt : excerpts) {
    const Frame& frame = excerpt.front();
    Plane<float> samples(frame.format.plane_width(plane), frame.format.plane_height(plane));
    load_plane(frame, plane, samples.view());
    planes.push_back(std::move(samples));
  }
  for (const Plane<float>& samples : planes)
    for (int y = 0; y < samples.height(); ++y)
      for (int x = 0; x < samples.width(); ++x) {
        limits.low = std::min(limits.low, samples.view()(x, y));
        limits.high = std::max(limits.high, samples.view()(x, y));
      }
  for (const Plane<float>& samples : planes)
    for (int y = 0; y < samples.height(); ++y) {
      const float* row = samples.view().row(y);
      for (int x = 1; x + 1 < samples.width(); ++x, ++count) {
        const auto noisy_at = [&](float end) {
          return row[x] == end && (row[x - 1] != end || row[x + 1] != end);
        };
        limits.at_low += noisy_at(limits.low) ? 1 : 0;
        limits.at_high += noisy_at(limits.high) ? 1 : 0;
      }
    }
  limits.at_low /= std::max(count, 1.0);
  limits.at_high /= std::max(count, 1.0);
  return limits;
}

std::shared_ptr<const NoiseCurve> curve_of(std::span<const Excerpt> excerpts, int plane,
                                           float level,
                                           const std::shared_ptr<const NoiseCurve>& measured) {
  const PlaneLimits limits = limits_of(excerpts, plane);
  const bool low = limits.at_low > min_share, high = limits.at_high > min_share;
  // If low equals high, the picture has no content. Weak noise is hardly clipped.
  if (!(limits.low < limits.high) || level < min_level || !(low || high)) return measured;
  auto curve = std::make_shared<NoiseCurve>();
  if (measured)
    *curve = *measured;
  else
    curve->sigma.fill(level);
  if (low && limits.low < 255) curve->low = limits.low;
  if (high && limits.high > 0) curve->high = limits.high;
  return curve;
}

}  // namespace

void add_clip_limits(std::span<const Excerpt> excerpts,
                     const std::shared_ptr<const NoiseCurve>& measured, NoiseEstimate& estimate) {
  const FrameFormat& format = excerpts.front().front().format;
  NoiseModel& noise = estimate.noise;
  const int planes = format.layout == Layout::rgb ? 3 : 1;
  // Maximum factor between the stabilised and the measured level, for RGB.
  std::optional<float> max_ratio;
  for (int i = 0; i < planes; ++i) {
    const float level = noise.sigma(i);
    if (level == 0) continue;
    const auto curve = curve_of(excerpts, i, level, measured);
    if (!curve) continue;
    const float ratio = stabilised_sigma(*curve) / level;
    if (noise.is_of_opponents())
      max_ratio = std::max(max_ratio.value_or(ratio), ratio);
    else
      noise.plane(i).sigma = level * ratio;
    noise.plane(i).curve = curve;
  }
  if (max_ratio) noise = scaled(noise, *max_ratio);
}

}  // namespace lull
