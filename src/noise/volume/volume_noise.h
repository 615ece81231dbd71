#pragma once
// The noise of a volume: its kind, and how strong it is where.

#include <array>
#include <memory>
#include <vector>

#include "core/image.h"

namespace lull {

/// Of magnitudes (MRI), a voxel is |v + n1 + i n2| with n1, n2 normal: Rician (Gudbjartsson and
/// Patz 1995, "The Rician distribution of noisy MRI data", doi:10.1002/mrm.1910340618). Where v is
/// some sigma, that is nearly Gaussian; where it is 0, Rayleigh, with a mean of 1.25 sigma.
enum class NoiseKind { gaussian, rician };

/// A level that varies smoothly over a volume: values at nodes, linear in between. Node i of n
/// along an axis of s voxels lies at (i + 0.5) s / n - 0.5; beyond the outermost ones nothing
/// changes.
struct NoiseMap {
  std::array<int, 3> voxels{1, 1, 1};  // of the volume along x, y (of a slice) and z, from 1
  std::array<int, 3> nodes{1, 1, 1};   // from 1
  std::vector<float> values;           // > 0, finite; x fastest, then y

  float& node(int x, int y, int z) { return values[index(x, y, z)]; }
  float node(int x, int y, int z) const { return values[index(x, y, z)]; }
  float least() const;
  float greatest() const;
  /// The level in each voxel of slice `z`; `to` has the size of a slice.
  void slice(int z, PlaneView<float> to) const;
  bool operator==(const NoiseMap&) const = default;

 private:
  std::size_t index(int x, int y, int z) const {
    return (static_cast<std::size_t>(z) * nodes[1] + y) * nodes[0] + x;
  }
};

/// Levels are standard deviations on the 0..255 scale; of Rician noise those of n1 and n2.
struct VolumeNoise {
  NoiseKind kind = NoiseKind::gaussian;
  float sigma = 0;  // everywhere, or with a map its least value; > 0
  float zero = 0;   // Rician: the sample on the 0..255 scale that stands for a magnitude of 0
  std::shared_ptr<const NoiseMap> map;  // null: the same everywhere

  /// Whether filters of white Gaussian noise can take samples as they are.
  bool is_plain() const { return kind == NoiseKind::gaussian && !map; }
};

/// For samples of another scale.
[[nodiscard]] VolumeNoise scaled(const VolumeNoise& noise, float factor);

/// @throws InvalidArgument  a level that is none, or a map that does not hold what it says
void validate(const VolumeNoise& noise);

}  // namespace lull
