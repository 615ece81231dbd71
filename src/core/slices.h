#pragma once
// Slices of a volume: spans along z, and masks of the wanted voxels.

#include <cstddef>
#include <utility>
#include <vector>

namespace lull {

struct SliceSpan {
  int first = 0, end = 0;  // `end`: one past the last slice
  constexpr int size() const { return end - first; }
  constexpr bool holds(int z) const { return first <= z && z < end; }
};

class SliceMask {
 public:
  /// `inside`: one flag per voxel, row by row. `zero`: voxels outside the mask become 0 in the
  /// output; otherwise they are preserved unchanged.
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
