#pragma once
// The noise of a volume: its kind, and its level as a function of the position.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/image.h"
#include "noise/volume/photon_noise.h"

namespace lull {

/// Kinds of noise of a volume. With Rician noise, a voxel of a magnitude image (MRI) is |v + n1 + i
/// * n2|. v is the true value, and n1 and n2 are normal with the standard deviation sigma. If v is
/// several times sigma, the distribution is nearly Gaussian. If v is 0, the distribution is a
/// Rayleigh distribution with the mean 1.25 * sigma. Source: Gudbjartsson and Patz 1995,
/// doi:10.1002/mrm.1910340618.
enum class NoiseKind { gaussian, rician };

/// A noise level that varies smoothly over a volume. The map contains values at nodes, is linear
/// between nodes, and constant outside. Along an axis with n nodes and s voxels, node i is at (i +
/// 0.5) * s / n - 0.5.
struct NoiseMap {
  // Number of voxels of the volume along x, y and z (z is the number of slices), at least 1.
  std::array<int, 3> voxels{1, 1, 1};
  std::array<int, 3> nodes{1, 1, 1};  // number of nodes along each axis, at least 1
  std::vector<float> values;          // > 0, finite; x fastest, then y

  float& node(int x, int y, int z) { return values[index(x, y, z)]; }
  float node(int x, int y, int z) const { return values[index(x, y, z)]; }
  float min_value() const;
  float max_value() const;
  /// Writes the noise level of each voxel of slice `z` to the plane `to`, which must have the size
  /// of a slice.
  void slice(int z, PlaneView<float> to) const;
  bool operator==(const NoiseMap&) const = default;

 private:
  std::size_t index(int x, int y, int z) const {
    return (static_cast<std::size_t>(z) * nodes[1] + y) * nodes[0] + x;
  }
};

/// The noise of a volume. Noise levels are standard deviations on the 0..255 scale. For Rician
/// noise, the levels are the standard deviations of the normal variables n1 and n2.
struct VolumeNoise {
  NoiseKind kind = NoiseKind::gaussian;
  float sigma = 0;  // > 0; with a map its minimum
  float zero = 0;   // Rician: the sample on the 0..255 scale that represents a magnitude of 0
  std::shared_ptr<const NoiseMap> map;  // null: the level is sigma everywhere
  /// Photon noise, on the 0..255 scale. Empty: there is no photon noise. With photon noise, the
  /// kind is gaussian, there is no map, and sigma is the sigma of the stabilised samples
  /// (PhotonStabiliser::sigma()).
  std::optional<PhotonNoise> photons{};

  /// Returns whether the noise is white and Gaussian with a constant level, so that filters need no
  /// variance stabilisation.
  bool is_plain() const { return kind == NoiseKind::gaussian && !map && !photons; }
};

/// Returns the noise of the samples after their multiplication by `factor`.
[[nodiscard]] VolumeNoise scaled(const VolumeNoise& noise, float factor);

/// Returns the highest noise level of a volume. The search for constant areas uses this level.
[[nodiscard]] float max_level(const VolumeNoise& noise);

/// Checks the noise of a volume.
/// @throws InvalidArgument  a noise level is not positive or not finite, or the map is inconsistent
void validate(const VolumeNoise& noise);

}  // namespace lull
