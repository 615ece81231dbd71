#pragma once
// Provides the rows of a plane with mirrored borders.

#include <algorithm>
#include <array>
#include <vector>

#include "core/image.h"

namespace lull::raw {

/// Reflects the index `i` at 0 and at length - 1 until it is in 0..length-1. The reflected site of
/// a Bayer mosaic has the same colour.
constexpr int mirrored(int i, int length) {
  if (length == 1) return 0;
  while (i < 0 || i >= length) i = i < 0 ? -i : 2 * (length - 1) - i;
  return i;
}

/// A ring buffer of the rows of a plane, with `Reach` mirrored samples at both ends of each row.
template <int Reach>
class MirroredRows {
 public:
  explicit MirroredRows(PlaneView<const float> plane) : plane_(plane) {
    for (auto& row : rows_) row.resize(static_cast<std::size_t>(plane.width) + 2 * Reach);
    held_.fill(-1);
  }
  /// Returns the rows y - Reach .. y + Reach, valid until the next call.
  std::array<const float*, 2 * Reach + 1> around(int y) {
    std::array<const float*, 2 * Reach + 1> result;
    for (int i = 0; i <= 2 * Reach; ++i) result[i] = row(y + i - Reach);
    return result;
  }

 private:
  static constexpr int slots = 2 * Reach + 1;

  const float* row(int y) {
    // Slot of row y >= -Reach in the ring buffer.
    const int slot = (y + slots) % slots;
    if (held_[slot] != y + Reach) {
      const float* from = plane_.row(mirrored(y, plane_.height));
      float* to = rows_[slot].data();
      std::copy_n(from, plane_.width, to + Reach);
      for (int i = 1; i <= Reach; ++i) {
        to[Reach - i] = from[mirrored(-i, plane_.width)];
        to[Reach + plane_.width - 1 + i] = from[mirrored(plane_.width - 1 + i, plane_.width)];
      }
      held_[slot] = y + Reach;
    }
    return rows_[slot].data() + Reach;
  }

  PlaneView<const float> plane_;
  std::array<std::vector<float>, slots> rows_;
  std::array<int, slots> held_;
};

}  // namespace lull::raw
