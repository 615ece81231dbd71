#pragma once
// Warps a plane in two passes, first along rows, then along columns (Catmull and Smith 1980, "3-D
// transformations of images in scanline order").

#include "burst/alignment.h"

namespace lull::burst {

/// An alignment for samples that need not be square: maps (x, y), relative to the centre, to (a x -
/// x_by_y y + move_x, y_by_x x + a y + move_y).
struct AffineWarp {
  double a, x_by_y, y_by_x, move_x, move_y;

  /// Converts `s`, an alignment of another plane, to this plane. The size of a sample of this plane
  /// is `wide` x `high` samples of the other plane.
  AffineWarp(const Alignment& s, double wide, double high)
      : a(s.a),
        x_by_y(s.b * high / wide),
        y_by_x(s.b * wide / high),
        move_x(s.move_x / wide),
        move_y(s.move_y / high) {}
};

/// Sets sample (x, y) of `to` to the value of `from` at `by`(x, y), for small rotations. All planes
/// have equal sizes. Borders are mirrored.
void warp(PlaneView<const float> from, const AffineWarp& by, PlaneView<float> intermediate,
          PlaneView<float> to);

}  // namespace lull::burst
