#include "series/samples/series_noise.h"

#include <algorithm>
#include <cmath>

#include "noise/volume/sample_vst.h"

namespace lull::series {
namespace {

float root(float v) { return std::sqrt(v); }

std::vector<float> factors_of(const SeriesNoise& noise, const Shape& shape) {
  if (!noise.map) return {};
  std::vector<float> factors(shape.voxels());
  for (int z = 0; z < shape.slices; ++z)
    noise.map->slice(
        z, {factors.data() + z * shape.slice_voxels(), shape.width, shape.height, shape.width});
  return factors;
}

}  // namespace

std::vector<int> noisy_volumes(const SeriesNoise& noise) {
  std::vector<int> volumes;
  for (int v = 0; v < static_cast<int>(noise.levels.size()); ++v)
    if (noise.levels[v] > 0) volumes.push_back(v);
  return volumes;
}

std::size_t place_of(int volume, const std::vector<int>& volumes) {
  return std::ranges::lower_bound(volumes, volume) - volumes.begin();
}

float median_level(const SeriesNoise& noise) {
  std::vector<float> levels = noise.levels;
  std::erase_if(levels, [](float level) { return !(level > 0); });
  if (levels.empty()) return 0;
  std::ranges::sort(levels);
  return levels[levels.size() / 2];
}

VolumeNoise volume_noise(const SeriesNoise& noise, float level) {
  VolumeNoise result{.kind = noise.kind, .sigma = level, .zero = noise.zero, .map = noise.map};
  if (!noise.map) return result;
  auto map = std::make_shared<NoiseMap>(*noise.map);
  for (float& value : map->values) value *= level;
  result.sigma = map->min_value();
  result.map = std::move(map);
  return result;
}

Stabiliser::Stabiliser(const SeriesNoise& noise, const Shape& shape)
    : rician_(noise.kind == NoiseKind::rician),
      zero_(noise.zero),
      levels_(noise.levels),
      factors_(factors_of(noise, shape)),
      table_(rician_shrink_range),
      inverse_(table_.inverse()) {}

float Stabiliser::forward(int volume, std::size_t voxel, float sample) const {
  const float scale = level(volume, voxel);
  return rician_ ? rician_root((sample - zero_) / scale, root) : sample / scale;
}

float Stabiliser::energy(int volume, std::size_t voxel, float sample) const {
  const float scaled = (sample - zero_) / level(volume, voxel);
  return rician_ ? std::max(scaled * scaled - 0.5f, 0.0f) : scaled * scaled;
}

float Stabiliser::inverse(int volume, std::size_t voxel, float stabilised) const {
  const float scale = level(volume, voxel);
  return rician_ ? zero_ + scale * inverse_(stabilised, root) : stabilised * scale;
}

}  // namespace lull::series
