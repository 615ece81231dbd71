#pragma once
// The noise of a series of volumes. Variance stabilisation makes the noise white, with a standard
// deviation of 1 in all volumes.

#include <cstddef>
#include <memory>
#include <vector>

#include "noise/volume/rician.h"
#include "noise/volume/volume_noise.h"
#include "series/samples.h"

namespace lull::series {

/// The noise of a series. The noise level at a voxel is the level of its volume, multiplied by the
/// factor of the map at the voxel. Levels are standard deviations on the 0..255 scale.
struct SeriesNoise {
  NoiseKind kind = NoiseKind::gaussian;
  float zero = 0;             // the sample that represents a magnitude of 0
  std::vector<float> levels;  // level of each volume; 0: it has no noise and is not filtered
  std::shared_ptr<const NoiseMap> map;  // null: the factor is 1 everywhere
};

/// Returns the volumes with noise, in order.
[[nodiscard]] std::vector<int> noisy_volumes(const SeriesNoise& noise);
/// Returns the median noise level of the volumes with noise, or 0 if no volume has noise.
[[nodiscard]] float median_level(const SeriesNoise& noise);
/// Returns the noise of a volume with the noise level `level`.
[[nodiscard]] VolumeNoise volume_noise(const SeriesNoise& noise, float level);

/// Variance stabilisation of the samples of a series. Each volume in a call must have noise.
class Stabiliser {
 public:
  Stabiliser(const SeriesNoise& noise, const Shape& shape);
  Stabiliser(const Stabiliser&) = delete;  // deleted because inverse_ points to table_
  Stabiliser& operator=(const Stabiliser&) = delete;

  /// Returns the variance-stabilised sample. For Gaussian noise, the result is the quotient q of
  /// the sample and its noise level. For Rician noise, the result is f(q), with the function f of
  /// noise/volume/rician.h. NaN stays NaN.
  float forward(int volume, std::size_t voxel, float sample) const;
  /// Returns the inverse of the variance stabilisation. For Rician noise, the inverse is exactly
  /// unbiased.
  float inverse(int volume, std::size_t voxel, float stabilised) const;
  /// Returns the squared difference between a variance-stabilised sample and the
  /// variance-stabilised magnitude 0. For samples without signal, the mean of the result is
  /// energy_of_noise().
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
