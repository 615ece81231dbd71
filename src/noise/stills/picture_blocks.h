#pragma once
// Blocks of 8x8 samples for noise estimation, and their DCT coefficients.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"

namespace lull {

/// Clipping limits of a plane. Samples at or beyond a limit count as clipped.
struct ClipBounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// One plane of several pictures of equal size, on the 0..255 scale. NaN marks samples that are not
/// finite or outside the filter range.
struct PlaneStack {
  std::vector<Plane<float>> pictures;
  ClipBounds bounds;
};

/// Loads plane `i` of all `frames`, which must have one format. If many samples have the minimum
/// value, this value is the lower clipping limit. If many samples have the maximum value, this
/// value is the upper clipping limit. If an extreme value is not frequent, integer samples have the
/// limit 0 or 255 instead, and float samples have no limit.
[[nodiscard]] PlaneStack load_stack(std::span<const Frame> frames, int i);

/// Computes plane `i` (Y, U or V) of the opponent space from the planes R, G and B.
[[nodiscard]] PlaneStack opponent_plane(std::span<const PlaneStack> rgb, int i);

/// A grid of blocks in each of several pictures. All pictures have one size, and the grids exclude
/// letterboxes.
struct PictureBlocks {
  int step = 0, columns = 0, rows = 0;  // grid of each picture; blocks are `step` apart
  std::vector<int> corners;             // x, y of the first block of each picture
  /// Number of clipped samples of each block. For a plane computed from several planes, the maximum
  /// over these planes.
  std::vector<std::uint8_t> clipped;
  int constant = 0;  // number of blocks with equal samples that are not clipped

  static constexpr int side = 8;
  /// Value of `clipped` for an unusable block: a block that is constant or contains NaN.
  static constexpr std::uint8_t unusable = 255;
  std::size_t size() const { return clipped.size(); }
};

/// Places a grid of about `max_blocks` blocks on `filtered_plane`. The function counts the clipped
/// samples of each block in `sources`: the planes of the same size from which the caller has
/// computed `filtered_plane`.
[[nodiscard]] PictureBlocks cut_blocks(const PlaneStack& filtered_plane,
                                       std::span<const PlaneStack> sources, std::size_t max_blocks);

/// Returns the 64 coefficients of the orthonormal 8x8 DCT of each block, [v][u]. Unusable blocks
/// have coefficients of 0.
[[nodiscard]] std::vector<float> coefficients(const PlaneStack& plane, const PictureBlocks& blocks);

}  // namespace lull
