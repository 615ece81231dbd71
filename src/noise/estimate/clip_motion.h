#pragma once
// Block motion between two frames, for the measurement of noise in clips. All calculations use
// integers on 8-bit luma.

// The search compares only the surroundings of a block. A comparison of the block itself would
// prefer vectors at which the noise is low by chance, and the noise would be underestimated.

#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "core/image.h"
#include "core/plane.h"

namespace lull {

/// Sizes, in samples, of a block, of the ring around the block, and of the gap between block and
/// ring. The gap makes the ring independent of the block, because the noise of neighbouring samples
/// may be correlated.
inline constexpr int clip_block = 8, clip_ring = 8, clip_gap_x = 4, clip_gap_y = 2;
/// Width, in samples, of the border around the ring. The derivatives at the edge of the ring need
/// this border.
inline constexpr int clip_border = 2;
/// Number of samples that must exist on each side of a block.
inline constexpr int clip_margin = clip_ring + clip_border;
inline constexpr int clip_window = clip_block + 2 * clip_margin;

struct ClipVector {
  int x = 0, y = 0;
};

/// The luma of a frame in 8 bits, and the means of the luma over 4x4 samples. For RGB, luma is the
/// mean of R, G and B.
class ClipLuma {
 public:
  explicit ClipLuma(const Frame& frame);
  PlaneView<const std::uint8_t> fine() const { return fine_; }
  PlaneView<const std::uint8_t> coarse() const { return coarse_.view(); }

 private:
  Plane<std::uint8_t> own_, coarse_;
  PlaneView<const std::uint8_t> fine_;
};

/// Motion vectors of large blocks from one frame to another. The search for the vector of a small
/// block starts from the vector of a large block.
class ClipMotion {
 public:
  /// The frames must outlive this object. `cell` is the distance between large blocks, in samples.
  ClipMotion(const ClipLuma& from, const ClipLuma& to, int cell);
  /// Returns the motion vector of the block whose upper left corner is (x, y). The window around
  /// the block must lie inside the two frames.
  ClipVector of_block(int x, int y) const;

 private:
  const ClipLuma& from_;
  const ClipLuma& to_;
  int cell_, columns_, rows_;
  std::vector<ClipVector> cells_;
};

}  // namespace lull
