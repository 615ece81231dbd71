#pragma once
// Where small blocks of one frame lie in the next, for the measurement of noise in clips. A vector
// is chosen by the surroundings of a block alone, never by the block: so what differs there was not
// chosen to be small, and noise cannot hide behind a vector that happens to fit it. All in integers
// on 8-bit luma.

#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "core/image.h"
#include "core/plane.h"

namespace lull {

/// A block, its surroundings, and what is left out between them where vectors are chosen, as noise
/// reaches from sample to sample; in samples.
inline constexpr int clip_block = 8, clip_ring = 8, clip_gap_x = 4, clip_gap_y = 2;
/// Beyond the surroundings, for derivatives.
inline constexpr int clip_border = 2;
/// Samples that have to lie around a block, on each side, and the side of all that is looked at.
inline constexpr int clip_margin = clip_ring + clip_border;
inline constexpr int clip_window = clip_block + 2 * clip_margin;

struct ClipVector {
  int x = 0, y = 0;
};

/// The luma of a frame in 8 bits (of RGB the mean of the channels), and means of 4x4 of it.
class ClipLuma {
 public:
  explicit ClipLuma(const Frame& frame);
  PlaneView<const std::uint8_t> fine() const { return fine_; }
  PlaneView<const std::uint8_t> coarse() const { return coarse_.view(); }

 private:
  Plane<std::uint8_t> own_, coarse_;
  PlaneView<const std::uint8_t> fine_;
};

/// Vectors of large cells from one frame to another, to begin searches with.
class ClipMotion {
 public:
  /// The frames have to live as long as this. Cells are `cell` samples apart.
  ClipMotion(const ClipLuma& from, const ClipLuma& to, int cell);
  /// Of the block with this upper left corner; its window lies within both frames.
  ClipVector of_block(int x, int y) const;

 private:
  const ClipLuma& from_;
  const ClipLuma& to_;
  int cell_, columns_, rows_;
  std::vector<ClipVector> cells_;
};

}  // namespace lull
