#pragma once
// Samples that hold nothing: where a depth camera or a stereo matcher found no distance.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/frame.h"

namespace lull {

/// The holes of a plane. A session gets them with a frame (Frame::holes) whose samples are filled
/// there with something that suits their surroundings: a patch that reaches into a hole is found by
/// no other as its like, so that what was filled in serves no sample but those around it.
class Holes {
 public:
  /// `hole`: row by row, true where a sample holds nothing.
  Holes(int width, int height, const std::vector<bool>& hole);

  int width() const { return width_; }
  int height() const { return height_; }
  std::int64_t count() const { return before(width_, height_); }
  bool at(int x, int y) const { return any_in(x, y, 1); }
  /// Whether a patch of `side` x `side` samples, the first of them (x, y), reaches into a hole; it
  /// lies in the plane.
  bool any_in(int x, int y, int side) const {
    return before(x + side, y + side) - before(x, y + side) - before(x + side, y) + before(x, y) >
           0;
  }
  /// any_in() of each place, row by row, as 1 and 0; 0 where a patch would leave the plane.
  std::vector<std::uint8_t> reached(int side) const;

 private:
  /// Holes in the rows above y, in the columns left of x.
  std::int32_t before(int x, int y) const {
    return sums_[static_cast<std::size_t>(y) * (width_ + 1) + x];
  }
  int width_, height_;
  std::vector<std::int32_t> sums_;
};

/// For sessions over frames with holes. @throws InvalidArgument  frames of several planes
void check_holes(const FrameFormat& format);
/// Those of a frame, or null. @throws InvalidArgument  they are of another size
[[nodiscard]] const std::shared_ptr<const Holes>& holes_of(const Frame& frame);

}  // namespace lull
