#include "series/samples/cubes.h"

#include "core/bases.h"

namespace lull::series {
namespace {

constexpr int side = cube_side;

/// Transforms the cube along one axis, with the stride `stride` in elements.
void transform_axis(Cube& cube, int stride) {
  const auto& rows = float_dct_rows<side>();
  for (int i = 0; i < cube_voxels; ++i) {
    if (i / stride % side != 0) continue;
    std::array<float, side> v;
    for (int k = 0; k < side; ++k) v[k] = cube[i + k * stride];
    for (int k = 0; k < side; ++k) {
      float sum = 0;
      for (int j = 0; j < side; ++j) sum += rows[k][j] * v[j];
      cube[i + k * stride] = sum;
    }
  }
}

}  // namespace

void transform(Cube& cube) {
  for (const int stride : {1, side, side * side}) transform_axis(cube, stride);
}

std::vector<std::uint32_t> cubes_inside(const Shape& shape, std::span<const std::uint32_t> voxels) {
  const int columns = shape.width / side, rows = shape.height / side, layers = shape.slices / side;
  std::vector<int> counts(static_cast<std::size_t>(columns) * rows * layers);
  for (const std::uint32_t voxel : voxels) {
    const int x = static_cast<int>(voxel % shape.width) / side,
              y = static_cast<int>(voxel / shape.width % shape.height) / side,
              z = static_cast<int>(voxel / shape.slice_voxels()) / side;
    if (x < columns && y < rows && z < layers)
      ++counts[(static_cast<std::size_t>(z) * rows + y) * columns + x];
  }
  std::vector<std::uint32_t> first;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < cube_voxels) continue;
    const std::size_t x = i % columns, y = i / columns % rows, z = i / columns / rows;
    first.push_back(
        static_cast<std::uint32_t>(side * (z * shape.slice_voxels() + y * shape.width + x)));
  }
  return first;
}

}  // namespace lull::series
