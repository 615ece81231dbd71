#pragma once
// Cubes of 4x4x4 voxels, and their discrete cosine transform.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "series/samples/samples.h"

namespace lull::series {

inline constexpr int cube_side = 4, cube_voxels = cube_side * cube_side * cube_side;

/// The voxels or the DCT coefficients of a cube: x first, then y, then z.
using Cube = std::array<float, cube_voxels>;

/// Replaces the voxels of a cube by its coefficients: the orthonormal DCT-II along the three axes.
void transform(Cube& cube);

/// Returns the first voxel of each cube that is completely inside an object. `voxels` contains the
/// voxels of this object.
[[nodiscard]] std::vector<std::uint32_t> cubes_inside(const Shape& shape,
                                                      std::span<const std::uint32_t> voxels);

/// Returns the index of voxel `i` of the cube whose first voxel is `first`.
[[nodiscard]] inline std::size_t voxel_of_cube(const Shape& shape, std::size_t first, int i) {
  return first + i / (cube_side * cube_side) * shape.slice_voxels() +
         i / cube_side % cube_side * static_cast<std::size_t>(shape.width) + i % cube_side;
}

}  // namespace lull::series
