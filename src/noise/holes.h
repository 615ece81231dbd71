#pragma once
// Invalid samples of depth maps: pixels for which a depth camera or a stereo matcher measured no
// distance.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/frame.h"

namespace lull {

/// The holes of a plane. A session gets the holes with each frame (Frame::holes). The samples at
/// holes contain interpolated values. The matcher never uses a patch that overlaps a hole as a
/// candidate, so interpolated values affect only nearby results.
class Holes {
 public:
  /// `hole` has one value per sample, row by row. The value is true for an invalid sample.
  Holes(int width, int height, const std::vector<bool>& hole);

  int width() const { return width_; }
  int height() const { return height_; }
  std::int64_t count() const { return before(width_, height_); }
  bool at(int x, int y) const { return any_in(x, y, 1); }
  /// Returns true if the patch of `side` x `side` samples with first sample (x, y) overlaps a hole.
  /// The patch must lie inside the plane.
  bool any_in(int x, int y, int side) const {
    return before(x + side, y + side) - before(x, y + side) - before(x + side, y) + before(x, y) >
           0;
  }
  /// Returns the holes of a field: the even rows (parity 0) or the odd rows. The height is even.
  Holes field(int parity) const;
  /// Returns one value per sample, row by row: 1 if the patch of `side` x `side` samples that
  /// begins at this sample overlaps a hole, otherwise 0. The value is 0 if the patch would extend
  /// beyond the plane.
  std::vector<std::uint8_t> reached(int side) const;

 private:
  /// Element (x, y) of the summed-area table of the holes: the number of holes (i, j) with i < x
  /// and j < y.
  std::int32_t before(int x, int y) const {
    return sums_[static_cast<std::size_t>(y) * (width_ + 1) + x];
  }
  int width_, height_;
  std::vector<std::int32_t> sums_;
};

/// Checks that sessions can process holes in frames of this format.
/// @throws InvalidArgument  the frames have several planes
void check_holes(const FrameFormat& format);
/// Returns the holes of a frame, or null.
/// @throws InvalidArgument  the holes and the frame differ in size
[[nodiscard]] const std::shared_ptr<const Holes>& holes_of(const Frame& frame);

}  // namespace lull
