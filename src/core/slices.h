#pragma once
// Ranges of slices along the z axis of a volume, and masks of the voxels whose results are
// required.

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
  /// @param inside  one flag per voxel of the slice, row by row: true if the mask contains the
  ///     voxel
  /// @param zero  if true, output voxels outside the mask are 0; if false, they are unchanged
  SliceMask(int width, int height, std::vector<bool> inside, bool zero)
      : width_(width), height_(height), inside_(std::move(inside)), zero_(zero) {}

  int width() const { return width_; }
  int height() const { return height_; }
  bool zero() const { return zero_; }
  bool inside(int x, int y) const { return inside_[static_cast<std::size_t>(y) * width_ + x]; }
  /// Returns the mask of one field of an interlaced slice: the even rows (parity 0) or odd rows
  /// (parity 1). The height must be even.
  SliceMask field(int parity) const {
    std::vector<bool> rows(inside_.size() / 2);
    for (int y = 0; y < height_ / 2; ++y)
      for (int x = 0; x < width_; ++x)
        rows[static_cast<std::size_t>(y) * width_ + x] = inside(x, 2 * y + parity);
    return {width_, height_ / 2, std::move(rows), zero_};
  }

 private:
  int width_, height_;
  std::vector<bool> inside_;
  bool zero_;
};

}  // namespace lull
