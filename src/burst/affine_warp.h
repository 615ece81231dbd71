#pragma once
// Warps a plane in two passes, first along rows, then along columns (Catmull and Smith 1980, "3-D
// transformations of images in scanline order").

#include "burst/alignment.h"

namespace lull::burst {

/// An alignment of two planes whose samples need not be square. It maps (x, y) to (a * x - x_by_y *
/// y + move_x, y_by_x * x + a * y + move_y). Coordinates are relative to the centres of the planes.
struct AffineWarp {
  double a, x_by_y, y_by_x, move_x, move_y;

  /// Converts `s`, the alignment of another plane of the same frames, to the alignment of this
  /// plane. One sample of this plane covers `wide` x `high` samples of the other plane.
  AffineWarp(const Alignment& s, double wide, double high)
      : a(s.a),
        x_by_y(s.b * high / wide),
        y_by_x(s.b * wide / high),
        move_x(s.move_x / wide),
        move_y(s.move_y / high) {}
};

/// Warps the plane `from`. `by` maps the position of each sample of `to` to a position in `from`,
/// and the sample receives the value of `from` at this position. Outside its border, `from`
/// continues as its mirror image. Rotations must be small, and all planes must have equal sizes.
void warp(PlaneView<const float> from, const AffineWarp& by, PlaneView<float> intermediate,
          PlaneView<float> to);

}  // namespace lull::burst
