#pragma once
// Slices of a volume, by their place along z.

namespace lull {

struct SliceSpan {
  int first = 0, end = 0;  // end: one past the last
  constexpr int size() const { return end - first; }
  constexpr bool holds(int z) const { return first <= z && z < end; }
};

}  // namespace lull
