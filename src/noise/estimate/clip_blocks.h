#pragma once
// Motion-compensated differences of blocks in consecutive frames, for the noise measurement in
// clips.

#include <array>

#include "core/frame.h"
#include "noise/coefficient_table.h"
#include "noise/estimate/clip_checks.h"
#include "noise/estimate/clip_motion.h"

namespace lull {

/// Clipping statistics of a block in one stored channel, over two frames. The distances `above_low`
/// and `below_high` are on the 0..255 scale, and infinite without a clipping limit.
struct ClipChannel {
  float above_low = 0, below_high = 0;  // distance of the mean from the clipping limits
  float clipped_share = 0;              // share of the samples that lie at a clipping limit
};

/// The difference of two blocks in one plane. `energy` contains the squared DCT coefficients of the
/// difference. For white noise, the mean of `energy` is the noise variance of a single frame.
struct ClipDifference {
  CoefficientTable energy{};
  float ring_energy = 0;  // mean square of the residual in the ring around the block
  float texture = 0;      // mean square of the slopes in the ring around the block
  float brightness = 0;   // mean of the block
  float luma = 0;         // brightness of the first plane's block at the same position
  float clipped = 0;      // share of clipped samples in the ring, in the most clipped channel
  // Share of the noise variance that remains after clipping. 0: the estimator ignores the block.
  float retained = 1;
  /// Clipping statistics of each stored channel that contributes to the plane. For RGB, the
  /// channels are R, G and B. Otherwise, the only channel is the plane itself.
  std::array<ClipChannel, 3> channels{};
  // If false, the block is at a border of the plane or contains NaN, and all other members are
  // undefined.
  bool valid = false;
  bool copied = false;  // the blocks are equal bit for bit: the second has no noise of its own
  // True if all samples of one of the two blocks are equal.
  bool constant = false;
};

/// Compares blocks of two frames, in the planes that filters process (for RGB: in the opponent
/// space).
class ClipBlocks {
 public:
  ClipBlocks(const Frame& from, const Frame& to, const ClipRange& range)
      : from_(from), to_(to), range_(range) {}
  /// Compares two blocks in plane `i`. The first block is at (x, y) in the first frame. The second
  /// block is displaced by `v` in the second frame. (x, y) and `v` are in samples of the first
  /// plane.
  [[nodiscard]] ClipDifference at(int i, int x, int y, ClipVector v) const;

 private:
  const Frame& from_;
  const Frame& to_;
  const ClipRange& range_;
};

}  // namespace lull
