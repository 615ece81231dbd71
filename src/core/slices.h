#pragma once
// Slices of a volume: their places along z, and which of their voxels are wanted.

#include <cstddef>
#include <utility>
#include <vector>

namespace lull {

struct SliceSpan {
  int first = 0, end = 0;  // end: one past the last
  constexpr int size() const { return end - first; }
  constexpr bool holds(int z) const { return first <= z && z < end; }
};

class SliceMask {
 public:
  /// `inside`: row by row. `zero`: what lies outside becomes 0 in the output, else it stays.
  SliceMask(int width, int height, std::vector<bool> inside, bool zero)
      : width_(width), height_(height), inside_(std::move(inside)), zero_(zero) {}

  int width() const { return width_; }
  int height() const { return height_; }
  bool zero() const { return zero_; }
  bool inside(int x, int y) const { return inside_[static_cast<std::size_t>(y) * width_ + x]; }

 private:
  int width_, height_;
  std::vector<bool> inside_;
  bool zero_;
};

}  // namespace lull
