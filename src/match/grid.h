#pragma once
// Where the reference patches lie: every `step`-th, and always the last of each row and column, so
// that every sample is covered.

#include "match/patch_shape.h"

namespace lull {

/// Reference patches along an axis of `length` >= side samples.
constexpr int reference_count(int length, int step, int side = patch) {
  return (length - side + step - 1) / step + 1;
}
/// First sample of reference patch `index` of reference_count().
constexpr int reference_position(int index, int length, int step, int side = patch) {
  const int last = length - side;
  return index * step < last ? index * step : last;
}

/// The reference patches of a picture, of `side` samples a side.
struct ReferenceGrid {
  int step = 1;
  int last_x = 0, last_y = 0;    // origin of the last reference patch
  int count_x = 0, count_y = 0;  // reference patches in a row, in a column

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
