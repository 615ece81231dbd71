#pragma once
// The grid of reference patches: every `step`-th position and the last position of each axis, so
// that patches cover every sample.

#include "match/patch_shape.h"

namespace lull {

/// Returns the number of reference patches along an axis of `length` >= `side` samples.
constexpr int reference_count(int length, int step, int side = patch) {
  return (length - side + step - 1) / step + 1;
}
/// Returns the position of a reference patch along an axis. Its index must be less than
/// reference_count().
constexpr int reference_position(int index, int length, int step, int side = patch) {
  const int last = length - side;
  return index * step < last ? index * step : last;
}

/// The reference patches of a picture. Patches have `side` x `side` samples.
struct ReferenceGrid {
  int step = 1;
  int last_x = 0, last_y = 0;    // position of the last reference patch
  int count_x = 0, count_y = 0;  // number of reference patches in a row, and in a column

  ReferenceGrid() = default;
  constexpr ReferenceGrid(int width, int height, int p, int side = patch)
      : step(p),
        last_x(width - side),
        last_y(height - side),
        count_x(reference_count(width, p, side)),
        count_y(reference_count(height, p, side)) {}
  constexpr int x(int i) const { return i * step < last_x ? i * step : last_x; }
  constexpr int y(int j) const { return j * step < last_y ? j * step : last_y; }
};

}  // namespace lull
