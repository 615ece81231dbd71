#pragma once
// The noise of a series, and the variance stabilisation that makes it white with standard deviation
// 1 in all volumes.

#include <cstddef>
#include <memory>
#include <vector>

#include "noise/volume/rician.h"
#include "noise/volume/volume_noise.h"
#include "series/samples.h"

namespace lull::series {

/// The level at a voxel is the level of its volume times the factor of the map. Levels are standard
/// deviations on the 0..255 scale, as in VolumeNoise.
struct SeriesNoise {
  NoiseKind kind = NoiseKind::gaussian;
  float zero = 0;             // the sample that represents a magnitude of 0
  std::vector<float> levels;  // of each volume; 0: the volume has no noise and is not filtered
  std::shared_ptr<const NoiseMap> map;  // null: 1 everywhere
};

/// Returns the volumes with noise, in order.
[[nodiscard]] std::vector<int> noisy_volumes(const SeriesNoise& noise);
/// Returns the median level of the volumes with noise; 0 if there is none.
[[nodiscard]] float median_level(const SeriesNoise& noise);
/// Returns the noise of a volume with this level.
[[nodiscard]] VolumeNoise volume_noise(const SeriesNoise& noise, float level);

/// The stabilisation. Volumes must have noise.
class Stabiliser {
 public:
  Stabiliser(const SeriesNoise& noise, const Shape& shape);
  Stabiliser(const Stabiliser&) = delete;  // inverse_ points to table_
  Stabiliser& operator=(const Stabiliser&) = delete;

  /// Returns the sample in units of its noise level; for Rician noise the function f of
  /// noise/volume/rician.h of it. NaN stays NaN.
  float forward(int volume, std::size_t voxel, float sample) const;
  /// The inverse; for Rician noise the exact unbiased one.
  float inverse(int volume, std::size_t voxel, float stabilised) const;
  /// Returns the square of the sample's distance from a magnitude of 0, stabilised; for white noise
  /// without signal the mean is `energy_of_noise()`.
  float energy(int volume, std::size_t voxel, float sample) const;
  float energy_of_noise() const { return rician_ ? 1.5f : 1.0f; }
  bool is_rician() const { return rician_; }

  float level(int volume, std::size_t voxel) const {
    return factors_.empty() ? levels_[volume] : levels_[volume] * factors_[voxel];
  }

 private:
  bool rician_;
  float zero_;
  std::vector<float> levels_, factors_;  // factors: by voxel; empty without a map
  RicianStabiliser table_;
  RicianInverse inverse_;
};

}  // namespace lull::series
