#pragma once
// The second halves of candidates. A patch that spans two frames (time/frame_pairs.h) has one half
// in each of them.
//
// By default both halves of a patch are at the same position, which is right for uniform motion. If
// motion accelerates, as in hand-held video, the second half of a candidate would show other
// content than the second half of the reference patch, so it is displaced by the acceleration. All
// motion vectors begin in the reference frame: a leads to the candidates' first frame, b to the
// candidates' second frame, and c to the reference patches' second frame. The displacement of a
// candidate's second half from its first half is b - a - c. The matcher decides separately for each
// bundle, a block of 8x4 reference patches (motion_grid.h).

#include <algorithm>

#include "core/image.h"
#include "match/grid.h"
#include "match/motion_grid.h"
#include "time/motion.h"

namespace lull {

/// Motion whose acceleration is below this many samples counts as uniform, because motion vectors
/// are rounded to samples.
inline constexpr int min_acceleration = 2;
/// The second halves of candidates are displaced only if this reduces the error to less than
/// max_error_ratio of the error without the displacement. The error is the sum of squared
/// differences from the second halves of the reference patches.
inline constexpr float max_error_ratio = 0.5f;

/// Returns the acceleration of the motion: b - a - c, as defined at the top of this file, or 0 for
/// uniform motion.
[[nodiscard]] constexpr Motion motion_acceleration(Motion a, Motion b, Motion c) {
  const int x = b.x - a.x - c.x, y = b.y - a.y - c.y;
  const bool even = x > -min_acceleration && x < min_acceleration && y > -min_acceleration &&
                    y < min_acceleration;
  return even ? Motion{} : Motion{static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)};
}

/// A rectangle of samples of a plane. `right` and `bottom` are the first column and the first row
/// beyond the rectangle.
struct BundleArea {
  int left = 0, top = 0, right = 0, bottom = 0;
};

/// Returns the area of a bundle (a block of 8x4 reference patches) in which the two positions of
/// the second half are compared: the part of its reference patches that remains inside the plane
/// when it is moved by `a` (the motion to the candidates' first frame) and by `a` + `acceleration`.
/// `i` and `j` are the column and row of the bundle's first reference patch.
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
/// reference patches): `acceleration`, or 0 if the motion counts as uniform. `own` is the guide of
/// the reference patches' second frame, and `other` is the guide of the candidates' second frame.
[[nodiscard]] Motion second_half(PlaneView<const float> own, PlaneView<const float> other,
                                 const BundleArea& area, Motion a, Motion acceleration);

}  // namespace lull
