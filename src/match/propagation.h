#pragma once
// Propagation finds groups without a search of complete windows, because similar patches usually
// have similar neighbours at equal displacements (Barnes, Shechtman, Finkelstein and Goldman 2009,
// doi:10.1145/1531326.1531330, section 3.2).

// The matcher searches complete windows only for some reference patches. Members of the groups of
// these patches are candidates for all other reference patches.

// The page docs/measurements/propagation.md compares the PSNR of propagation with the PSNR of a
// complete search.

// In the second phase, members of groups of the first phase are the candidates. The matcher
// compares these candidates in the guide of the second phase.

// A reference patch without a complete search has these candidates, in this order:
// 1. patches of the refinement window in the reference frame, row by row;
// 2. patches of the refinement windows in neighbouring frames, around the position to which the
//    motion vector points;
// 3. candidates from the groups of neighbouring reference patches with a complete search.

// For a group member at the displacement d from its own reference patch, the candidate is the patch
// at the displacement d from the current reference patch.

// The matcher searches frames in the order that group.h defines. Group members outside the search
// window of the reference patch are not candidates.

// The matcher removes duplicate candidates. Distances have no bias. All other rules of group.h
// apply.

#include <array>

#include "match/grid.h"

namespace lull {

/// Maximum number of stored group members that the matcher compares with one reference patch.
inline constexpr int max_propagated = 32;

/// The neighbours of a reference patch: nearby reference patches whose complete windows the matcher
/// searches. Members of the groups of these neighbours, except member 0, are candidates for the
/// reference patch.
struct NeighbourPatches {
  struct Neighbour {
    int column = 0, row = 0;  // position of the neighbour on the grid `searched`
    int members = 0;          // members 1 .. `members` are tested
  };
  std::array<Neighbour, 5> all{};
  int count = 0;
};

/// Indices, along an axis, of the nearest grid patches before (`first`) and after (`last`) a
/// position. Grid patches are the reference patches whose complete windows the matcher searches. At
/// the position of a grid patch, both indices are the index of this patch.
struct AdjacentIndices {
  int first = 0, last = 0;
};
constexpr AdjacentIndices adjacent_indices(int x, int step, int last_place, int count) {
  if (x >= last_place) return {count - 1, count - 1};
  const int first = x / step;
  return {first, first * step == x ? first : first + 1};
}

/// The matcher searches the complete windows of the reference patches on the grid `searched`.
/// Returns the two or four patches of this grid around (x, y). If the patch at (x, y) is on the
/// grid itself, returns this patch and its four neighbours on the grid.
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
