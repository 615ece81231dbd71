#pragma once
// Block motion between two frames in 8-bit luma, for the noise measurement of clips. All arithmetic
// uses integers.

// The search compares only the surroundings of a block, because matching the block itself would
// underestimate the noise.

#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "core/image.h"
#include "core/plane.h"

namespace lull {

/// Lengths in samples. The motion search compares the samples of a ring around each block. A gap
/// between block and ring makes the compared samples independent of the block, even if the noise is
/// correlated. `clip_block` is the side of a block, `clip_ring` the distance from the block to the
/// outer edge of the ring, and `clip_gap_x` and `clip_gap_y` the widths of the gap.
inline constexpr int clip_block = 8, clip_ring = 8, clip_gap_x = 4, clip_gap_y = 2;
/// Width, in samples, of the border around the ring of a block. The derivatives at the edge of the
/// ring also depend on the samples of this border.
inline constexpr int clip_border = 2;
/// Number of samples that must exist on each side of a block.
inline constexpr int clip_margin = clip_ring + clip_border;
inline constexpr int clip_window = clip_block + 2 * clip_margin;

struct ClipVector {
  int x = 0, y = 0;
};

/// The 8-bit luma of a frame (the mean of R, G and B for RGB), and its means over 4x4 samples.
class ClipLuma {
 public:
  explicit ClipLuma(const Frame& frame);
  PlaneView<const std::uint8_t> fine() const { return fine_; }
  PlaneView<const std::uint8_t> coarse() const { return coarse_.view(); }

 private:
  Plane<std::uint8_t> own_, coarse_;
  PlaneView<const std::uint8_t> fine_;
};

/// Motion vectors of large blocks, from which the search for small blocks starts.
class ClipMotion {
 public:
  /// The frames must outlive the object. `cell` is the distance between large blocks, in samples.
  ClipMotion(const ClipLuma& from, const ClipLuma& to, int cell);
  /// Returns the motion vector of the block with the top-left corner (x, y). The window around the
  /// block must lie inside the frames.
  ClipVector of_block(int x, int y) const;

 private:
  const ClipLuma& from_;
  const ClipLuma& to_;
  int cell_, columns_, rows_;
  std::vector<ClipVector> cells_;
};

}  // namespace lull
