#pragma once
// What all backends agree on: where reference cubes lie, how their groups are made, the transform
// of a cube, the aggregation window.
//
// - Reference cubes lie at multiples of the step along each axis, counted from the volume's first
//   voxel, and at the last place of each axis, so that every voxel is covered.
// - The reference cube is the first member of its group. The others follow by their distance from
//   it in the guide (the noisy volume, then the basic estimate), those at equal distance by their
//   place in the window: slice by slice, row by row. Cubes lie wholly in the volume. There is no
//   threshold for matches: with one, quality was worse at every noise
//   (docs/measurements/volumes.md).
// - The number of members is a power of two: what is over is dropped from the far end.
// - The overall mean of a group is kept in the first phase, and counts as retained; its Wiener
//   factor is 1.
// - Weights: 1 / retained coefficients, 1 / sum of the squared Wiener factors.

#include <array>
#include <cstdint>

#include "bm4d/params.h"
#include "core/bases.h"

namespace lull::bm4d {

/// Reference cubes along an axis of `length` >= cube voxels, and the first voxel of one.
constexpr int reference_count(int length, int step, int cube) {
  return (length - cube + step - 1) / step + 1;
}
constexpr int reference_position(int index, int length, int step, int cube) {
  const int last = length - cube;
  return index * step < last ? index * step : last;
}

/// Where a member lies, in voxels from the reference cube, -7..7 each: x in bits 0 to 7, y in 8 to
/// 15, z in 16 to 23.
constexpr std::uint32_t pack_offset(int dx, int dy, int dz) {
  return (static_cast<std::uint32_t>(dz) & 0xffu) << 16 |
         (static_cast<std::uint32_t>(dy) & 0xffu) << 8 | (static_cast<std::uint32_t>(dx) & 0xffu);
}
constexpr int offset_x(std::uint32_t packed) { return static_cast<std::int8_t>(packed & 0xff); }
constexpr int offset_y(std::uint32_t packed) {
  return static_cast<std::int8_t>(packed >> 8 & 0xff);
}
constexpr int offset_z(std::uint32_t packed) {
  return static_cast<std::int8_t>(packed >> 16 & 0xff);
}

struct Group {
  int count = 0;  // 1, 2, 4, .. max_group
  std::array<std::uint32_t, max_group> members;
};

/// Of an axis shorter than a cube: the voxel that stands at place `i` of its continuation, which is
/// the axis mirrored at its ends.
constexpr int mirrored(int i, int length) {
  const int j = i % (2 * length);
  return j < length ? j : 2 * length - 1 - j;
}

/// Rows of the orthonormal DCT-II of `side` samples, 3 or 4.
using AxisMatrix = std::array<std::array<double, max_cube>, max_cube>;
[[nodiscard]] inline AxisMatrix dct_rows(int side) { return lull::dct_rows<max_cube>(side); }

/// One axis of the separable Kaiser window: I0(beta sqrt(1 - (2i/(side - 1) - 1)^2)) / I0(beta); 0
/// beyond the side.
[[nodiscard]] inline std::array<float, max_cube> kaiser_window(float beta, int side) {
  return lull::kaiser_window<max_cube>(beta, side);
}

}  // namespace lull::bm4d
