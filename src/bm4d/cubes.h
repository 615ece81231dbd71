#pragma once
// Reference cubes, groups, transforms and aggregation window of BM4D. Along each axis, reference
// cubes are at multiples of the step and at the last position, so the cubes cover every voxel.

// The first member of a group is its reference cube. All other members follow by distance in the
// guide, then by position in the search window, row by row.

// The number of members of a group is a power of two, so the matcher may have to drop the most
// distant members. The matcher has no match threshold, because a threshold reduced the quality at
// every noise level (docs/measurements/volumes.md).

// First phase: the guide is the noisy volume. The filter always retains the overall mean of a
// group. The weight of a group is 1 / (number of retained coefficients, including the overall
// mean).

// Second phase: the guide is the basic estimate. The overall mean of a group has the Wiener factor
// 1. The weight of a group is 1 / (sum of the squared Wiener factors).

#include <array>
#include <cstdint>

#include "bm4d/params.h"
#include "core/bases.h"

namespace lull::bm4d {

/// Returns the number of reference cubes along an axis of `length` >= `cube` voxels.
constexpr int reference_count(int length, int step, int cube) {
  return (length - cube + step - 1) / step + 1;
}
/// Returns the first voxel of reference cube `index` along an axis of `length` voxels.
constexpr int reference_position(int index, int length, int step, int cube) {
  const int last = length - cube;
  return index * step < last ? index * step : last;
}

/// Packs the displacement of a member, -7..7 voxels along each axis: x in bits 0 to 7, y in bits 8
/// to 15, and z in bits 16 to 23.
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
  int count = 0;  // number of members: a power of two up to max_group
  std::array<std::uint32_t, max_group> members;
};

/// Returns the index of the voxel at position `i` of an axis, mirrored if the axis is shorter than
/// a cube.
constexpr int mirrored(int i, int length) {
  const int j = i % (2 * length);
  return j < length ? j : 2 * length - 1 - j;
}

/// Matrix of the orthonormal DCT-II of `side` samples, 3 or 4, row by row.
using AxisMatrix = std::array<std::array<double, max_cube>, max_cube>;
[[nodiscard]] inline AxisMatrix dct_rows(int side) { return lull::dct_rows<max_cube>(side); }

/// Returns the separable Kaiser window along one axis. Its value at position i < `side` is I0(beta
/// * sqrt(1 - (2 * i / (side - 1) - 1)^2)) / I0(beta), where I0 is the modified Bessel function of
/// order 0.
[[nodiscard]] inline std::array<float, max_cube> kaiser_window(float beta, int side) {
  return lull::kaiser_window<max_cube>(beta, side);
}

}  // namespace lull::bm4d
