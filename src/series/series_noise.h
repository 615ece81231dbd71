#pragma once
// The noise of a series of volumes, and the variance stabilisation that makes it white with
// standard deviation 1 in all volumes.

#include <cstddef>
#include <memory>
#include <vector>

#include "noise/volume/rician.h"
#include "noise/volume/volume_noise.h"
#include "series/samples.h"

namespace lull::series {

/// The noise level at a voxel is the level of its volume times the factor of the map. Levels are
/// standard deviations on the 0..255 scale, as in VolumeNoise.
struct SeriesNoise {
  NoiseKind kind = NoiseKind::gaussian;
  float zero = 0;             // the sample that represents a magnitude of 0
  std::vector<float> levels;  // level of each volume; 0: it has no noise and is not filtered
  std::shared_ptr<const NoiseMap> map;  // null: the factor is 1 everywhere
};

/// Returns the volumes with noise, in order.
[[nodiscard]] std::vector<int> noisy_volumes(const SeriesNoise& noise);
/// Returns the median noise level of the volumes with noise; 0 if no volume has noise.
[[nodiscard]] float median_level(const SeriesNoise& noise);
/// Returns the noise of a volume with this noise level.
[[nodiscard]] VolumeNoise volume_noise(const SeriesNoise& noise, float level);

/// Variance stabilisation of the samples of a series. All volumes that it gets must have noise.
class Stabiliser {
 public:
  Stabiliser(const SeriesNoise& noise, const Shape& shape);
  Stabiliser(const Stabiliser&) = delete;  // deleted because inverse_ points to table_
  Stabiliser& operator=(const Stabiliser&) = delete;

  /// Returns the stabilised sample: the sample in units of its noise level, and for Rician noise
  /// the function f of noise/volume/rician.h of this value. NaN stays NaN.
  float forward(int volume, std::size_t voxel, float sample) const;
  /// The inverse of the stabilisation; for Rician noise, it is the exact unbiased inverse.
  float inverse(int volume, std::size_t voxel, float stabilised) const;
  /// Returns the squared difference between the stabilised sample and the stabilised magnitude 0.
  /// Where there is only noise, its mean is `energy_of_noise()`.
  float energy(int volume, std::size_t voxel, float sample) const;
  float energy_of_noise() const { return rician_ ? 1.5f : 1.0f; }
  bool is_rician() const { return rician_; }

  float level(int volume, std::size_t voxel) const {
    return factors_.empty() ? levels_[volume] : levels_[volume] * factors_[voxel];
  }

 private:
  bool rician_;
  float zero_;
  std::vector<float> levels_, factors_;  // factors_: one for each voxel; empty without a map
  RicianStabiliser table_;
  RicianInverse inverse_;
};

}  // namespace lull::series
