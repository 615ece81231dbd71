#include "series/filter/volume_levels.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace lull::series {
namespace {

/// Limits for levels_differ(): maximum ratio of two levels that count as equal, for Gaussian and
/// for Rician noise. The limits are high, because estimates from single volumes are inaccurate.
constexpr float same_volume_level = 1.5f, same_rician_level = 2.5f;

/// Returns the noise map of `noise`, divided by `level`, or null without a map.
std::shared_ptr<const NoiseMap> relative_map(const VolumeNoise& noise, float level) {
  if (!noise.map) return nullptr;
  auto map = std::make_shared<NoiseMap>(*noise.map);
  for (float& value : map->values) value /= level;
  return map;
}

}  // namespace

bool levels_differ(std::vector<float> levels, NoiseKind kind) {
  std::erase_if(levels, [](float level) { return !(level > 0); });
  if (levels.empty()) return false;
  std::ranges::sort(levels);
  const std::size_t tenth = levels.size() / 10;
  return levels[levels.size() - 1 - tenth] >
         (kind == NoiseKind::rician ? same_rician_level : same_volume_level) * levels[tenth];
}

SeriesNoise equal_noise(const VolumeNoise& noise, float level, int volumes, float zero) {
  return {.kind = noise.kind,
          .zero = zero,
          .levels = std::vector<float>(volumes, level),
          .map = relative_map(noise, level)};
}

VolumeLevels::VolumeLevels(const FrameFormat& format, int slices, float zero)
    : format_(format), slices_(slices), zero_(zero) {}

void VolumeLevels::add(const Frame& slice) {
  if (slice.slice == 0) {
    finish();
    current_.emplace(format_, slices_);
  }
  if (current_) current_->add(slice);
}

void VolumeLevels::finish() {
  if (!current_) return;
  LevelsByKind& levels = levels_.emplace_back();
  // If lull has examined cubes but none of them is usable, the volume is constant and has no noise.
  if (current_->examined() > 0 && current_->cubes().empty()) levels.fill(0.0f);
  if (current_->has_enough_cubes())
    for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::rician})
      levels[static_cast<std::size_t>(kind)] = estimate_volume(*current_, kind, zero_).level;
  current_.reset();
}

SeriesNoise VolumeLevels::noise(const VolumeEstimate& whole) const {
  SeriesNoise noise = equal_noise(whole.noise, whole.level, volumes(), zero_);
  std::vector<float> own;
  for (const LevelsByKind& by_kind : levels_)
    own.push_back(by_kind[static_cast<std::size_t>(noise.kind)].value_or(whole.level));
  if (levels_differ(own, noise.kind)) {
    noise.levels = std::move(own);
  } else {
    for (std::size_t v = 0; v < own.size(); ++v)
      if (!(own[v] > 0)) noise.levels[v] = 0;
  }
  return noise;
}

void VolumeLevels::clear_constant_volumes(SeriesNoise& noise) const {
  for (std::size_t v = 0; v < levels_.size(); ++v)
    if (levels_[v].front() == 0.0f) noise.levels[v] = 0;
}

}  // namespace lull::series
