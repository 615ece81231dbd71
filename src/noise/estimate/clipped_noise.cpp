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

/// Noise below this level loses next to nothing at the ends.
constexpr float least_level = 4;
/// So many of all samples lie at an end, among others that do not.
constexpr double least_share = 0.03;

/// Where samples of a plane end, of what was looked at.
struct Ends {
  float low = 255, high = 0;
  double at_low = 0, at_high = 0;  // share of samples there
};

/// Samples at an end count where a neighbour is not at it: black bars and burnt-out skies are flat.
Ends ends_of(std::span<const Look> looks, int plane) {
  Ends ends;
  double count = 0;
  std::vector<Plane<float>> planes;
  for (const Look& look : looks) {
    const Frame& frame = look.front();
    Plane<float> samples(frame.format.plane_width(plane), frame.format.plane_height(plane));
    load_plane(frame, plane, samples.view());
    planes.push_back(std::move(samples));
  }
  for (const Plane<float>& samples : planes)
    for (int y = 0; y < samples.height(); ++y)
      for (int x = 0; x < samples.width(); ++x) {
        ends.low = std::min(ends.low, samples.view()(x, y));
        ends.high = std::max(ends.high, samples.view()(x, y));
      }
  for (const Plane<float>& samples : planes)
    for (int y = 0; y < samples.height(); ++y) {
      const float* row = samples.view().row(y);
      for (int x = 1; x + 1 < samples.width(); ++x, ++count) {
        const auto noisy_at = [&](float end) {
          return row[x] == end && (row[x - 1] != end || row[x + 1] != end);
        };
        ends.at_low += noisy_at(ends.low) ? 1 : 0;
        ends.at_high += noisy_at(ends.high) ? 1 : 0;
      }
    }
  ends.at_low /= std::max(count, 1.0);
  ends.at_high /= std::max(count, 1.0);
  return ends;
}

std::shared_ptr<const NoiseCurve> curve_of(std::span<const Look> looks, int plane, float level,
                                           const std::shared_ptr<const NoiseCurve>& measured) {
  const Ends ends = ends_of(looks, plane);
  const bool low = ends.at_low > least_share, high = ends.at_high > least_share;
  // Noise reaches from one end to the other, or there is no picture between them.
  if (!(ends.low < ends.high) || level < least_level || !(low || high)) return measured;
  auto curve = std::make_shared<NoiseCurve>();
  if (measured)
    *curve = *measured;
  else
    curve->sigma.fill(level);
  if (low && ends.low < 255) curve->low = ends.low;
  if (high && ends.high > 0) curve->high = ends.high;
  return curve;
}

}  // namespace

void consider_ends(std::span<const Look> looks, const std::shared_ptr<const NoiseCurve>& measured,
                   NoiseEstimate& estimate) {
  const FrameFormat& format = looks.front().front().format;
  NoiseModel& noise = estimate.noise;
  const int planes = format.layout == Layout::rgb ? 3 : 1;
  std::optional<float> stronger;  // what stabilising makes of the level, of RGB
  for (int i = 0; i < planes; ++i) {
    const float level = noise.sigma(i);
    if (level == 0) continue;
    const auto curve = curve_of(looks, i, level, measured);
    if (!curve) continue;
    const float ratio = stabilised_sigma(*curve) / level;
    if (noise.is_of_opponents())
      stronger = std::max(stronger.value_or(ratio), ratio);
    else
      noise.plane(i).sigma = level * ratio;
    noise.plane(i).curve = curve;
  }
  if (stronger) noise = scaled(noise, *stronger);
}

}  // namespace lull
