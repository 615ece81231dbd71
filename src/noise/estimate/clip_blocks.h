#pragma once
// What differs between a block of one frame and where it lies in the next, once motion by less than
// a sample and changes of light are taken out: for the measurement of noise in clips.

#include <array>

#include "core/frame.h"
#include "noise/coefficient_table.h"
#include "noise/estimate/clip_look.h"
#include "noise/estimate/clip_motion.h"

namespace lull {

/// Where the samples of a block lie in one channel of the file, in both frames together; distances
/// on the 0..255 scale, infinite where nothing ends.
struct ClipChannel {
  float above_low = 0, below_high = 0;  // of their mean from the ends of their range
  float at_ends = 0;                    // the share that lies at an end
};

/// Squared coefficients of the difference of two blocks in one plane, in the units of one frame's
/// noise.
struct ClipDifference {
  CoefficientTable energy{};
  float around = 0;      // mean square of what differs around the block
  float texture = 0;     // mean square of the slopes around the block
  float brightness = 0;  // mean of the block
  float luma = 0;        // that of the first plane's block at the same place
  float clipped = 0;     // share of the samples around it that are at an end, where most are
  float left = 1;        // of the noise's variance, by what is clipped; 0: does not count
  /// Those that the plane is made of: one, or R, G and B.
  std::array<ClipChannel, 3> channels{};
  bool valid = false;     // false: the rest says nothing, as the block is at a border or no number
  bool copied = false;    // bit by bit: no noise of its own
  bool constant = false;  // all samples of one of the blocks are equal: a bar, or beyond the range
};

/// The planes as filtered: of RGB those of the opponent space.
class ClipBlocks {
 public:
  ClipBlocks(const Frame& from, const Frame& to, const ClipRange& range)
      : from_(from), to_(to), range_(range) {}
  /// Plane `i` of the block at (x, y) of the first plane and where `v` leads.
  [[nodiscard]] ClipDifference at(int i, int x, int y, ClipVector v) const;

 private:
  const Frame& from_;
  const Frame& to_;
  const ClipRange& range_;
};

}  // namespace lull
