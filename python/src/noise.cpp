#include "python/src/noise.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/error.h"
#include "noise/depth/find_depth_noise.h"
#include "noise/estimate/clipped_noise.h"
#include "noise/volume/estimate_volume.h"

namespace lull::python {
namespace {

PlaneNoise coloured_plane(const Samples& covariance) {
  const auto lags = static_cast<std::size_t>(correlation_lags);
  if (covariance.shape(0) != lags || covariance.shape(1) != lags ||
      covariance.dtype() != nanobind::dtype<float>())
    throw InvalidArgument("an autocovariance of the wrong size; give 15x15 floats");
  const auto* values = static_cast<const float*>(covariance.data());
  const auto at = [&](int dx, int dy) {
    return values[(dy + correlation_reach) * covariance.stride(0) +
                  (dx + correlation_reach) * covariance.stride(1)];
  };
  const float variance = at(0, 0);
  if (!(variance >= 0) || !std::isfinite(variance))
    throw InvalidArgument("a noise of variance " + std::to_string(variance) +
                          " (must be a number from 0); give another");
  PlaneNoise plane{.sigma = std::sqrt(variance), .correlation = {}, .curve = {}};
  if (!(variance > 0)) return plane;
  auto correlation = std::make_shared<Autocorrelation>();
  bool white = true;
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx) {
      const float value = (at(dx, dy) + at(-dx, -dy)) / (2 * variance);
      (*correlation)[lag_index(dx, dy)] = value;
      constexpr float nothing = 1e-5f;
      white = white && (std::abs(value) < nothing || (dx == 0 && dy == 0));
    }
  if (!white) plane.correlation = std::move(correlation);
  return plane;
}

Estimate volume_estimate(const VolumeEstimate& estimate) {
  Estimate found;
  const float sigma = estimate.noise.sigma, level = estimate.level;
  found.noise.model = NoiseModel({sigma, sigma, sigma});
  if (sigma > 0 && !estimate.noise.is_plain()) found.noise.volume_noise = estimate.noise;
  found.level = {level, level, level};
  found.coarse = level / 8;
  found.certain = estimate.certain;
  found.why = estimate.why;
  return found;
}

/// Returns a copy of `noise` with all noise levels multiplied by `factor`. The copy has no noise
/// curves.
NoiseModel flat_noise(const NoiseModel& noise, float factor) {
  const auto flat = [&](const PlaneNoise& plane) {
    return PlaneNoise{plane.level_in_samples() * factor, plane.correlation, nullptr};
  };
  if (noise.is_of_opponents()) {
    const NoiseModel opponents = noise.in_opponent_space();
    return NoiseModel::of_opponents(
        {flat(opponents.plane(0)), flat(opponents.plane(1)), flat(opponents.plane(2))});
  }
  NoiseModel other = noise;
  for (int i = 0; i < 3; ++i) other.plane(i) = flat(noise.plane(i));
  return other;
}

std::vector<Excerpt> excerpts_of(const std::vector<std::vector<Image>>& images, FramePool& pool) {
  std::vector<Excerpt> excerpts;
  for (const std::vector<Image>& place : images) {
    Excerpt& statistics = excerpts.emplace_back();
    for (const Image& image : place) {
      check_planes(image, pool.format());
      statistics.push_back(frame_of(image, pool, false));
    }
  }
  return excerpts;
}

}  // namespace

Noise white_noise(const std::array<float, 3>& sigma) {
  Noise noise{.model = NoiseModel(sigma), .volume_noise = {}};
  validate(noise.model);
  return noise;
}

Noise clipped_noise(const Noise& noise, const std::vector<std::vector<Image>>& excerpts,
                    const FrameFormat& format) {
  FramePool pool(format);
  const PlaneClipping clipping = find_clipping(noise.model, excerpts_of(excerpts, pool));
  return {.model = with_clipping(noise.model, clipping), .volume_noise = noise.volume_noise};
}

Noise coloured_noise(const std::vector<Samples>& covariances) {
  Noise noise;
  for (std::size_t i = 0; i < 3; ++i)
    noise.model.plane(static_cast<int>(i)) =
        coloured_plane(covariances[std::min(i, covariances.size() - 1)]);
  validate(noise.model);
  return noise;
}

Noise rician_noise(float sigma, float zero) {
  Noise noise = white_noise({sigma, sigma, sigma});
  if (sigma > 0)
    noise.volume_noise =
        VolumeNoise{.kind = NoiseKind::rician, .sigma = sigma, .zero = zero, .map = {}};
  return noise;
}

Noise rescaled(const Noise& noise, float factor, float zero) {
  Noise other = noise;
  if (factor != 1) other.model = flat_noise(noise.model, factor);
  if (noise.volume_noise) {
    other.volume_noise = scaled(*noise.volume_noise, factor);
    other.volume_noise->zero = zero;
  }
  return other;
}

Noise strengthened(const Noise& noise, float strength) {
  if (strength == 1) return noise;
  return {.model = scaled(noise.model, strength), .volume_noise = noise.volume_noise};
}

Estimate find_noise(const std::vector<std::vector<Image>>& excerpts, const FrameFormat& format,
                    bool flat) {
  FramePool pool(format);
  NoiseEstimate estimate = estimate_noise(excerpts_of(excerpts, pool));
  if (flat) estimate.noise = flat_noise(estimate.noise, 1);
  return {.noise = {.model = std::move(estimate.noise), .volume_noise = {}},
          .level = estimate.level,
          .coarse = estimate.coarse,
          .certain = estimate.certain,
          .why = std::move(estimate.why)};
}

Depth analyse_depth(const std::vector<Image>& maps, const FrameFormat& format,
                    const DepthSamples& samples, std::optional<double> sigma,
                    std::optional<double> reference) {
  FramePool pool(format);
  DepthStatistics statistics(samples);
  std::vector<Frame> frames;
  for (const Image& map : maps) {
    check_planes(map, format);
    statistics.add(frames.emplace_back(frame_of(map, pool, false)));
  }
  if (statistics.empty()) throw InvalidArgument("a depth map with only holes (check `invalid`)");
  DepthSetup known = prepare_depth(statistics, frames, sigma, reference);
  Noise noise = white_noise({known.noise.sigma, known.noise.sigma, known.noise.sigma});
  noise.model.plane(0) = std::move(known.noise);
  return {.scale = known.scale, .noise = std::move(noise)};
}

void VolumeStatistics::add(const Image& slice, int place) {
  check_planes(slice, pool_.format());
  Frame frame = frame_of(slice, pool_, false);
  frame.slice = place;
  collector_.add(frame);
}

std::optional<Estimate> VolumeStatistics::find(const std::string& kind, float zero) const {
  if (!collector_.has_enough_cubes() && collector_.constant_values().empty()) return std::nullopt;
  std::optional<NoiseKind> known;
  if (kind != "auto") known = kind == "rician" ? NoiseKind::rician : NoiseKind::gaussian;
  return volume_estimate(estimate_volume(collector_, known, zero));
}

}  // namespace lull::python
