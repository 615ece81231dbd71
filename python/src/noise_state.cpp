#include "python/src/noise_state.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "core/error.h"

namespace lull::python {
namespace {

void copy_all(const std::vector<float>& from, std::span<float> to) {
  if (from.size() != to.size())
    throw InvalidArgument("an invalid pickled noise (lists of the wrong length)");
  std::ranges::copy(from, to.begin());
}

PlaneState state_of(const PlaneNoise& plane) {
  PlaneState state{plane.sigma, {}, {}};
  if (plane.correlation)
    std::get<1>(state) = std::vector<float>(plane.correlation->begin(), plane.correlation->end());
  if (const NoiseCurve* curve = plane.curve.get())
    std::get<2>(state) = CurveState{std::vector<float>(curve->sigma.begin(), curve->sigma.end()),
                                    curve->low, curve->high};
  return state;
}

PlaneNoise plane_of(const PlaneState& state) {
  const auto& [sigma, correlation, curve] = state;
  PlaneNoise plane{.sigma = sigma};
  if (correlation) {
    auto values = std::make_shared<Autocorrelation>();
    copy_all(*correlation, *values);
    plane.correlation = std::move(values);
  }
  if (curve) {
    auto values = std::make_shared<NoiseCurve>();
    const auto& [levels, low, high] = *curve;
    copy_all(levels, values->sigma);
    values->low = low;
    values->high = high;
    plane.curve = std::move(values);
  }
  return plane;
}

VolumeState state_of(const VolumeNoise& noise) {
  VolumeState state{noise.kind == NoiseKind::rician, noise.sigma, noise.zero, {}};
  if (noise.map)
    std::get<3>(state) = MapState{noise.map->voxels, noise.map->nodes, noise.map->values};
  return state;
}

VolumeNoise volume_of(const VolumeState& state) {
  const auto& [rician, sigma, zero, map] = state;
  VolumeNoise noise{.kind = rician ? NoiseKind::rician : NoiseKind::gaussian,
                    .sigma = sigma,
                    .zero = zero,
                    .map = {}};
  if (map) {
    const auto& [voxels, nodes, values] = *map;
    noise.map = std::make_shared<NoiseMap>(NoiseMap{voxels, nodes, values});
  }
  validate(noise);
  return noise;
}

}  // namespace

NoiseState state_of(const Noise& noise) {
  const bool opponents = noise.model.is_of_opponents();
  const NoiseModel model = opponents ? noise.model.in_opponent_space() : noise.model;
  NoiseState state;
  for (int i = 0; i < 3; ++i) std::get<0>(state)[i] = state_of(model.plane(i));
  std::get<1>(state) = opponents;
  if (noise.volume_noise) std::get<2>(state) = state_of(*noise.volume_noise);
  return state;
}

Noise noise_of(const NoiseState& state) {
  const auto& [planes, opponents, volume_noise] = state;
  std::array<PlaneNoise, 3> of_planes;
  std::ranges::transform(planes, of_planes.begin(), plane_of);
  Noise noise;
  if (opponents)
    noise.model = NoiseModel::of_opponents(of_planes);
  else
    for (int i = 0; i < 3; ++i) noise.model.plane(i) = of_planes[i];
  validate(noise.model);
  if (volume_noise) noise.volume_noise = volume_of(*volume_noise);
  return noise;
}

EstimateState state_of(const Estimate& found) {
  return {state_of(found.noise), found.level, found.coarse, found.certain, found.why};
}

Estimate estimate_of(const EstimateState& state) {
  const auto& [noise, level, coarse, certain, why] = state;
  return {noise_of(noise), level, coarse, certain, why};
}

}  // namespace lull::python
