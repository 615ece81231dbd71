#pragma once
// How one picture of a burst lies in another, both taken by hand: moved, turned a little, and a
// little larger or smaller. Found in three steps, all on the host, so that every backend gets the
// same:
// 1. In the smallest of ever smaller pictures the move alone, by full search.
// 2. From size to size by the moves of tiles, through which a similarity is laid that tiles with
//    moves of their own do not draw aside: least squares, repeated without what lies far off.
// 3. In the largest by the differences themselves (refinement.h), to a small part of a sample.

#include <cstdint>
#include <vector>

#include "core/image.h"
#include "core/plane.h"

namespace lull::burst {

/// From a sample at (x, y) of one picture, counted from its middle, to the other's at
/// (a x - b y + move_x, b x + a y + move_y), counted likewise.
struct Alignment {
  double a = 1, b = 0;
  double move_x = 0, move_y = 0;
};

/// A picture in ever smaller sizes, each half of the one before, rounded down.
class Pyramid {
 public:
  /// `picture`: of floats on the 0..255 scale.
  explicit Pyramid(PlaneView<const float> picture);
  [[nodiscard]] int levels() const { return static_cast<int>(planes_.size()); }
  /// Level 0 is the whole picture.
  [[nodiscard]] PlaneView<const float> level(int i) const { return planes_[i].view(); }

 private:
  std::vector<Plane<float>> planes_;
};

/// Of two pictures of one size.
[[nodiscard]] Alignment find_alignment(const Pyramid& picture, const Pyramid& other);

}  // namespace lull::burst
