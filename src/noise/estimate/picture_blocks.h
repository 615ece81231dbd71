#pragma once
// Pictures cut into blocks of 8x8 samples, for estimates of their noise: which blocks may be asked,
// and what they hold at each frequency.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"

namespace lull {

/// Samples of a plane at or beyond these were clipped, as far as can be told.
struct ClipBounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// A plane of several pictures of one size, on the 0..255 scale. What is no number or out of the
/// range that filters see is not a number.
struct PlaneStack {
  std::vector<Plane<float>> pictures;
  ClipBounds bounds;
};

/// Plane `i` of all `frames`, which have one format. Bounds are the ends of the scale, if samples
/// are integers, or where the plane's samples pile up at their least or greatest (video's 16 and
/// 235, floats that were clipped).
[[nodiscard]] PlaneStack load_stack(std::span<const Frame> frames, int i);

/// Where blocks lie in pictures of one size: a grid in each, one for all. Those of the borders that
/// show nothing (letterboxes) are left out.
struct PictureBlocks {
  int step = 0, columns = 0, rows = 0;  // of the grid of each picture; blocks are `step` apart
  std::vector<int> corners;             // x, y of the first block of each picture
  /// Of each block: how many of its samples are clipped, in the plane where most are.
  std::vector<std::uint8_t> clipped;
  int constant = 0;  // blocks without a difference, at values that are not clipped

  static constexpr int side = 8;
  /// In place of a number of clipped samples: a block that says nothing. All its samples are equal,
  /// or one is not a number.
  static constexpr std::uint8_t unusable = 255;
  std::size_t size() const { return clipped.size(); }
};

/// Blocks of `shown`, at most about `most` of them. Clipped are samples of `sources`, of which
/// `shown` is made: all have one size.
[[nodiscard]] PictureBlocks cut(const PlaneStack& shown, std::span<const PlaneStack> sources,
                                std::size_t most);

/// Coefficients of the orthonormal 8x8 DCT of each block, row by row (v, u): 64 numbers each, 0 for
/// blocks that say nothing.
[[nodiscard]] std::vector<float> coefficients(const PlaneStack& plane, const PictureBlocks& blocks);

}  // namespace lull
