#pragma once
// The noise of a series of volumes, and its variance stabilisation to white noise with a standard
// deviation of 1.

#include <cstddef>
#include <memory>
#include <vector>

#include "noise/volume/rician.h"
#include "noise/volume/volume_noise.h"
#include "series/samples/samples.h"

namespace lull::series {

/// The noise of a series. The standard deviation in a voxel of a volume is the level of the volume
/// times the factor of the noise map. Levels are on the 0..255 scale.
struct SeriesNoise {
  NoiseKind kind = NoiseKind::gaussian;
  float zero = 0;             // the sample that represents a magnitude of 0
  std::vector<float> levels;  // level of each volume; 0: it has no noise and is not filtered
  std::shared_ptr<const NoiseMap> map;  // null: the factor is 1 everywhere
};

/// Returns the volumes with noise, in order.
[[nodiscard]] std::vector<int> noisy_volumes(const SeriesNoise& noise);
/// Returns the index of the first entry of the ascending list `volumes` that is at least `volume`.
[[nodiscard]] std::size_t place_of(int volume, const std::vector<int>& volumes);
/// Returns the median noise level of the volumes with noise, or 0 if no volume has noise.
[[nodiscard]] float median_level(const SeriesNoise& noise);
[[nodiscard]] VolumeNoise volume_noise(const SeriesNoise& noise, float level);

/// Variance stabilisation of the samples of a series. The argument `volume` of each function must
/// be a volume with a noise level above 0.
class Stabiliser {
 public:
  Stabiliser(const SeriesNoise& noise, const Shape& shape);
  Stabiliser(const Stabiliser&) = delete;  // deleted because inverse_ points to table_
  Stabiliser& operator=(const Stabiliser&) = delete;

  /// Returns the stabilised sample. Let q be the sample, divided by its noise level. For Gaussian
  /// noise, the result is q. For Rician noise, the result is f(q), with the function f of
  /// noise/volume/rician.h. NaN stays NaN.
  float forward(int volume, std::size_t voxel, float sample) const;
  /// Returns the inverse of the variance stabilisation, exactly unbiased for Rician noise.
  float inverse(int volume, std::size_t voxel, float stabilised) const;
  /// Returns the energy of a sample: the squared difference of its stabilised value and the
  /// stabilised value of magnitude 0. In voxels without signal, the mean energy is
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
