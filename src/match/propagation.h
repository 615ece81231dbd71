#pragma once
// Finds groups without a search of complete windows (propagation: Barnes, Shechtman, Finkelstein
// and Goldman 2009, doi:10.1145/1531326.1531330, section 3.2). If two patches resemble each other,
// their neighbours at the same displacement usually resemble each other, too.

// The matcher searches the complete windows of only some reference patches, the searched reference
// patches. For all other reference patches, the matcher compares the members of the groups of
// searched reference patches. docs/measurements/propagation.md describes the loss of quality.

// In the second phase, the matcher compares the members of the groups of the first phase in the
// same way, in the guide of the second phase.

// A reference patch without a search of its complete window has three kinds of candidates, in this
// order:
// 1. patches of the refinement window in the reference frame, row by row;
// 2. patches of the refinement windows in neighbouring frames, around the position that motion
//    predicts;
// 3. members of the groups of neighbouring searched reference patches, at the same displacement.

// Neighbouring frames are searched in the order of group.h. A member of a group is a candidate only
// if it lies in the search window of the reference patch.

// In propagation, each candidate counts once, and no bias is added to distances. All other rules of
// group.h apply.

#include <array>

#include "match/grid.h"

namespace lull {

/// Maximum number of stored group members that the matcher compares with one reference patch.
inline constexpr int max_propagated = 32;

/// The searched reference patches near a reference patch. The members of their stored groups are
/// candidates of the reference patch, except member 0, the searched reference patch itself.
struct NeighbourPatches {
  struct Neighbour {
    int column = 0, row = 0;  // position of the searched reference patch on their grid
    int members = 0;          // members 1 .. `members` are tested
  };
  std::array<Neighbour, 5> all{};
  int count = 0;
};

/// Indices, along one axis, of the two searched reference patches nearest to a position. `first` is
/// the last at or before the position. `last` is the first at or after the position.
struct AdjacentIndices {
  int first = 0, last = 0;
};
constexpr AdjacentIndices adjacent_indices(int x, int step, int last_place, int count) {
  if (x >= last_place) return {count - 1, count - 1};
  const int first = x / step;
  return {first, first * step == x ? first : first + 1};
}

/// Returns the searched reference patches whose groups provide candidates for the reference patch
/// at (x, y). If the patch at (x, y) is itself a searched reference patch, the result contains the
/// patch and its four neighbours, which provide fewer members. If not, the result contains the two
/// or four searched reference patches around (x, y).
constexpr NeighbourPatches neighbours_of(const ReferenceGrid& searched, int x, int y) {
  const AdjacentIndices i = adjacent_indices(x, searched.step, searched.last_x, searched.count_x);
  const AdjacentIndices j = adjacent_indices(y, searched.step, searched.last_y, searched.count_y);
  NeighbourPatches to;
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
