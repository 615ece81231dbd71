#pragma once
// Invalid samples of depth maps: pixels for which a depth camera or a stereo matcher measured no
// distance.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/frame.h"

namespace lull {

/// The holes of a plane (Frame::holes). Patches that overlap a hole are never candidates. The
/// interpolated samples in a hole therefore affect only results near the hole.
class Holes {
 public:
  /// `hole` contains one flag per sample, row by row. The flag is true for an invalid sample.
  Holes(int width, int height, const std::vector<bool>& hole);

  int width() const { return width_; }
  int height() const { return height_; }
  std::int64_t count() const { return before(width_, height_); }
  bool at(int x, int y) const { return any_in(x, y, 1); }
  /// Returns whether the patch of `side` x `side` samples with the top-left sample (x, y) overlaps
  /// a hole. The patch must lie inside the plane.
  bool any_in(int x, int y, int side) const {
    return before(x + side, y + side) - before(x, y + side) - before(x + side, y) + before(x, y) >
           0;
  }
  /// Returns the holes of one field of an interlaced plane: the even rows (parity 0) or the odd
  /// rows (parity 1). The height of the plane must be even.
  Holes field(int parity) const;
  /// Returns one flag per sample, row by row. The flag is 1 if the patch of `side` x `side` samples
  /// with this top-left sample overlaps a hole. The flag is 0 for all other patches, and for
  /// patches that extend beyond the plane.
  std::vector<std::uint8_t> reached(int side) const;

 private:
  /// Returns element (x, y) of the summed-area table of the holes: the number of holes (i, j) with
  /// i < x and j < y.
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
