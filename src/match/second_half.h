#pragma once
// Where the second halves of candidates lie that are patches in two frames (time/frame_pairs.h).
//
// Patches are straight in time, both halves at one place, which is right where motion is even: the
// same happens in all patches between their halves. Where it is not, as in a hand that shakes, the
// second half of a candidate shows something else than that of the reference patch. There it
// follows the motion. With a from the reference patches' frame to the candidates' first one, b to
// their second one, and c to the reference patches' second one, it lies b - a - c beside the first
// half. That is decided for a bundle of reference patches (motion_grid.h) at a time.

#include <algorithm>

#include "core/image.h"
#include "match/grid.h"
#include "match/motion_grid.h"
#include "time/motion.h"

namespace lull {

/// Motion that differs by less is even: vectors are rounded to samples.
inline constexpr int least_uneven = 2;
/// The second half follows if what it shows is so much more like what the reference patches' second
/// half shows: of the squared differences.
inline constexpr float follows_below = 0.5f;

/// b - a - c of the head comment; none where motion is even.
[[nodiscard]] constexpr Motion uneven_motion(Motion a, Motion b, Motion c) {
  const int x = b.x - a.x - c.x, y = b.y - a.y - c.y;
  const bool even = x > -least_uneven && x < least_uneven && y > -least_uneven && y < least_uneven;
  return even ? Motion{} : Motion{static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)};
}

/// Samples of a plane.
struct BundleArea {
  int left = 0, top = 0, right = 0, bottom = 0;
};

/// Of a bundle that begins with the reference patch in column `i` and row `j`: what of its patches
/// lies within the plane wherever they are compared, moved by `a` and by `a` + `uneven`.
[[nodiscard]] constexpr BundleArea compared_area(const MotionGrid& grid, int side, int i, int j,
                                                 Motion a, Motion uneven) {
  const int columns = reference_count(grid.width, grid.step, side);
  const int rows = reference_count(grid.height, grid.step, side);
  const int last_i = std::min(i + motion_columns, columns) - 1;
  const int last_j = std::min(j + motion_rows, rows) - 1;
  const int least_x = std::min<int>(a.x, a.x + uneven.x),
            most_x = std::max<int>(a.x, a.x + uneven.x);
  const int least_y = std::min<int>(a.y, a.y + uneven.y),
            most_y = std::max<int>(a.y, a.y + uneven.y);
  return {
      std::max(reference_position(i, grid.width, grid.step, side), -least_x),
      std::max(reference_position(j, grid.height, grid.step, side), -least_y),
      std::min(reference_position(last_i, grid.width, grid.step, side) + side, grid.width - most_x),
      std::min(reference_position(last_j, grid.height, grid.step, side) + side,
               grid.height - most_y)};
}

/// How far beside their first half the second halves of a bundle's candidates lie: `uneven` or
/// nothing. `own`: guide of the reference patches' second frame; `other`: of the candidates'.
[[nodiscard]] Motion second_half(PlaneView<const float> own, PlaneView<const float> other,
                                 const BundleArea& area, Motion a, Motion uneven);

}  // namespace lull
