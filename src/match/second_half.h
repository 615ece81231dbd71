#pragma once
// The second halves of candidates. A patch that spans two frames (time/frame_pairs.h) has one half
// in each frame. By default, both halves are at the same position, which is right for uniform
// motion.

// If motion accelerates, as in hand-held video, the second half of a candidate would show other
// content than the second half of the reference patch. The matcher therefore displaces the second
// half by the acceleration. The matcher decides separately for each bundle, a block of 8x4
// reference patches (motion_grid.h).

// All motion vectors begin in the reference frame: a leads to the first frame of the candidates, b
// to the second frame of the candidates, and c to the second frame of the reference patches. The
// displacement of a candidate's second half from its first half is b - a - c.

#include <algorithm>

#include "core/image.h"
#include "match/grid.h"
#include "match/motion_grid.h"
#include "time/motion.h"

namespace lull {

/// Minimum acceleration in samples. Motion with a smaller acceleration counts as uniform, because
/// motion vectors are rounded to samples.
inline constexpr int min_acceleration = 2;
/// Maximum ratio of two errors: the error with the displacement of the candidates' second halves,
/// divided by the error without the displacement. At a greater ratio, the matcher does not displace
/// the second halves. The error is the sum of squared differences from the second halves of the
/// reference patches.
inline constexpr float max_error_ratio = 0.5f;

/// Returns the acceleration b - a - c of the motion, or 0 for uniform motion. `a` leads from the
/// reference frame to the candidates' first frame, `b` to the candidates' second frame, and `c` to
/// the reference patches' second frame.
[[nodiscard]] constexpr Motion motion_acceleration(Motion a, Motion b, Motion c) {
  const int x = b.x - a.x - c.x, y = b.y - a.y - c.y;
  const bool even = x > -min_acceleration && x < min_acceleration && y > -min_acceleration &&
                    y < min_acceleration;
  return even ? Motion{} : Motion{static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)};
}

/// A rectangle of samples of a plane. `right` is the column and `bottom` the row behind its last
/// sample.
struct BundleArea {
  int left = 0, top = 0, right = 0, bottom = 0;
};

/// Returns the area in which the matcher compares two positions of the candidates' second halves.
/// The positions are displaced by `a`, the motion to the candidates' first frame, and by `a` +
/// `acceleration`. The area is the part of a bundle (8x4 reference patches) that remains inside the
/// plane at both positions. `i` and `j` are the column and row of the bundle's first reference
/// patch.
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

/// Returns the displacement between the two halves of the candidates of a bundle (a block of 8x4
/// reference patches): `acceleration`, or 0 if the displacement does not reduce the error enough.
/// `own` is the guide of the reference patches' second frame, and `other` the guide of the
/// candidates' second frame.
[[nodiscard]] Motion second_half(PlaneView<const float> own, PlaneView<const float> other,
                                 const BundleArea& area, Motion a, Motion acceleration);

}  // namespace lull
