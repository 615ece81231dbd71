#pragma once
// A two-frame patch (time/frame_pairs.h) consists of one patch in each of two frames, by default at
// the same position. This file computes the displacement between the two positions.

// If motion accelerates, as in hand-held video, the matcher displaces the second patch of a
// candidate by the acceleration. The acceleration is the same for all reference patches of a bundle
// (8x4 neighbouring reference patches, motion_grid.h).

// A reference patch spans the frames r1 and r2, and its candidate spans the frames c1 and c2.
// Motion vectors point from r1 to c1 (vector a), to c2 (vector b), and to r2 (vector c). The
// acceleration is b - a - c.

#include <algorithm>

#include "core/image.h"
#include "match/grid.h"
#include "match/motion_grid.h"
#include "time/motion.h"

namespace lull {

/// Minimum acceleration in samples. Smaller accelerations count as 0, because motion vectors are
/// rounded to samples.
inline constexpr int min_acceleration = 2;
/// Maximum ratio of the errors (sums of squared differences) with and without displacement in the
/// second frame. Above this ratio, the matcher uses no displacement.
inline constexpr float max_error_ratio = 0.5f;

/// Returns the acceleration b - a - c, or 0 for uniform motion. A reference patch spans the frames
/// r1 and r2, and its candidate spans the frames c1 and c2. Motion vectors point from r1 to c1
/// (`a`), to c2 (`b`), and to r2 (`c`).
[[nodiscard]] constexpr Motion motion_acceleration(Motion a, Motion b, Motion c) {
  const int x = b.x - a.x - c.x, y = b.y - a.y - c.y;
  const bool even = x > -min_acceleration && x < min_acceleration && y > -min_acceleration &&
                    y < min_acceleration;
  return even ? Motion{} : Motion{static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)};
}

/// A rectangle of samples. `right` and `bottom` are exclusive.
struct BundleArea {
  int left = 0, top = 0, right = 0, bottom = 0;
};

/// Returns the part of the area of a bundle (8x4 reference patches) that stays inside the plane
/// after a shift by `a`, and also after a shift by `a` + `acceleration`. `a` is the motion vector
/// to the first frame of the candidates. The first reference patch of the bundle is in column `i`
/// and row `j`.
[[nodiscard]] constexpr BundleArea compared_area(const MotionGrid& grid, int side, int i, int j,
                                                 Motion a, Motion acceleration) {
  const int columns = reference_count(grid.width, grid.step, side);
  const int rows = reference_count(grid.height, grid.step, side);
  const int last_i = std::min(i + motion_columns, columns) - 1;
  const int last_j = std::min(j + motion_rows, rows) - 1;
  const int least_x = std::min<int>(a.x, a.x + acceleration.x),
            most_x = std::max<int>(a.x, a.x + acceleration.x);
  const int least_y = std::min<int>(a.y, a.y + acceleration.y),
            most_y = std::max<int>(a.y, a.y + acceleration.y);
  return {
      std::max(reference_position(i, grid.width, grid.step, side), -least_x),
      std::max(reference_position(j, grid.height, grid.step, side), -least_y),
      std::min(reference_position(last_i, grid.width, grid.step, side) + side, grid.width - most_x),
      std::min(reference_position(last_j, grid.height, grid.step, side) + side,
               grid.height - most_y)};
}

/// A bundle has 8x4 reference patches, which span the frames r1 and r2. Their candidates span the
/// frames c1 and c2. Returns the displacement of all these candidates in c2, relative to c1:
/// `acceleration`, or 0 if `acceleration` does not reduce the error enough. `own` is the guide of
/// r2, and `other` is the guide of c2.
[[nodiscard]] Motion second_half(PlaneView<const float> own, PlaneView<const float> other,
                                 const BundleArea& area, Motion a, Motion acceleration);

}  // namespace lull
