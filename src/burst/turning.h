#pragma once
// A plane as another picture of the burst has it, by an alignment: two passes of one axis each
// (Catmull and Smith 1980, "3-D transformations of images in scanline order"), with a kernel so
// long that noise stays nearly white.

#include "burst/alignment.h"

namespace lull::burst {

/// An alignment in the samples of a plane that are not as wide as they are high: (x, y), counted
/// from the middle, leads to (a x - x_by_y y + move_x, y_by_x x + a y + move_y).
struct Turn {
  double a, x_by_y, y_by_x, move_x, move_y;

  /// `wide`, `high`: of a sample, in those of the plane that is aligned.
  Turn(const Alignment& s, double wide, double high)
      : a(s.a),
        x_by_y(s.b * high / wide),
        y_by_x(s.b * wide / high),
        move_x(s.move_x / wide),
        move_y(s.move_y / high) {}
};

/// To (x, y) of `to` comes what `from` has where `by` leads: turned by far less than 45 degrees.
/// Beyond its ends samples are mirrored. Both are of one size; `between` is room of that size.
void turn(PlaneView<const float> from, const Turn& by, PlaneView<float> between,
          PlaneView<float> to);

}  // namespace lull::burst
