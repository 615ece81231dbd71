#pragma once
// Blocks of 8x8 samples of pictures for noise estimation, and their coefficients. Some blocks are
// not usable.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"

namespace lull {

/// Clip limits of a plane. Samples at or beyond a limit count as clipped.
struct ClipBounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// One plane of several pictures of the same size, on the 0..255 scale. Samples that are not
/// finite, or outside the range that filters accept, are NaN.
struct PlaneStack {
  std::vector<Plane<float>> pictures;
  ClipBounds bounds;
};

/// Loads plane `i` of all `frames`, which must have one format. If many samples have the minimum or
/// maximum value, this value is a clip limit (16 and 235 in video, or floats that were clipped). If
/// not, the clip limits are the ends of the scale for integer samples, and infinite for float
/// samples.
[[nodiscard]] PlaneStack load_stack(std::span<const Frame> frames, int i);

/// The grid of blocks in pictures of one size. The grid does not cover letterboxes.
struct PictureBlocks {
  int step = 0, columns = 0, rows = 0;  // grid of each picture; blocks are `step` apart
  std::vector<int> corners;             // x, y of the first block of each picture
  /// Number of clipped samples of each block. If the plane is computed from several planes, the
  /// plane with the most clipped samples in the block counts.
  std::vector<std::uint8_t> clipped;
  int constant = 0;  // number of blocks with equal samples that are not clipped

  static constexpr int side = 8;
  /// Value of `clipped` for an unusable block, whose samples are all equal or contain NaN.
  static constexpr std::uint8_t unusable = 255;
  std::size_t size() const { return clipped.size(); }
};

/// Places a grid of at most about `max_blocks` blocks on `filtered_plane`. `sources` contains the
/// planes from which `filtered_plane` is computed, and in which the function counts clipped
/// samples. All planes must have one size.
[[nodiscard]] PictureBlocks cut_blocks(const PlaneStack& filtered_plane,
                                       std::span<const PlaneStack> sources, std::size_t max_blocks);

/// Returns the coefficients of the orthonormal 8x8 DCT of each block. Each block has 64
/// coefficients, row by row (v, u). They are 0 for unusable blocks.
[[nodiscard]] std::vector<float> coefficients(const PlaneStack& plane, const PictureBlocks& blocks);

}  // namespace lull
