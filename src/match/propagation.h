#pragma once
// Groups without a search of whole windows: what is like a patch is, moved with it, like the
// patches beside it too. So some reference patches search their windows, and the others look at
// what these have found (Barnes, Shechtman, Finkelstein and Goldman 2009,
// doi:10.1145/1531326.1531330, section 3.2, propagation), and so does a later phase, in its better
// guide. docs/measurements/propagation.md has what it costs.
//
// The candidates of a reference patch that propagates are, in this order:
// 1. those of the near window in its own frame, MatchParams::near_window, row by row;
// 2. those of the near windows in the other frames, MatchParams::near_temporal_window, around the
//    place that motion predicts, frame by frame as in group.h;
// 3. members of the groups kept for the searched reference patches around it, neighbours_of(),
//    displaced from it as they are from their own, where they lie in its window.
// Each counts once. The rest is as group.h has it for a search, but that there is no bias.

#include <array>

#include "match/grid.h"

namespace lull {

/// Members of kept groups that a reference patch looks at, at most.
inline constexpr int max_propagated = 32;

/// Searched reference patches, and which members of their groups count. Member 0 is the searched
/// patch itself, which is never looked at.
struct Neighbours {
  struct One {
    int column = 0, row = 0;  // on the grid of the searched ones
    int members = 0;          // 1 .. members
  };
  std::array<One, 5> all{};
  int count = 0;
};

/// Along an axis: the last searched place at or before `x`, and the first one at or behind it.
struct Beside {
  int first = 0, last = 0;
};
constexpr Beside beside(int x, int step, int last_place, int count) {
  if (x >= last_place) return {count - 1, count - 1};
  const int first = x / step;
  return {first, first * step == x ? first : first + 1};
}

/// For the reference patch at (x, y), where `searched` are those that searched: its own group and
/// the first of the four beside it if it is one of them, else those of the two or four around it.
constexpr Neighbours neighbours_of(const ReferenceGrid& searched, int x, int y) {
  const Beside i = beside(x, searched.step, searched.last_x, searched.count_x);
  const Beside j = beside(y, searched.step, searched.last_y, searched.count_y);
  Neighbours to;
  const auto add = [&](int column, int row, int members) {
    if (column >= 0 && row >= 0 && column < searched.count_x && row < searched.count_y)
      to.all[to.count++] = {column, row, members};
  };
  if (i.first == i.last && j.first == j.last) {
    add(i.first, j.first, 15);
    add(i.first - 1, j.first, 4);
    add(i.first + 1, j.first, 4);
    add(i.first, j.first - 1, 4);
    add(i.first, j.first + 1, 4);
  } else if (i.first == i.last || j.first == j.last) {
    add(i.first, j.first, 16);
    add(i.last, j.last, 16);
  } else {
    add(i.first, j.first, 8);
    add(i.last, j.first, 8);
    add(i.first, j.last, 8);
    add(i.last, j.last, 8);
  }
  return to;
}

}  // namespace lull
