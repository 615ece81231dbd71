#pragma once
// Blocks of 8x8 samples of pictures, for noise estimation: which blocks are usable, and their
// coefficients.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"

namespace lull {

/// Clip limits of a plane. Samples at or beyond a limit are clipped.
struct ClipBounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// A plane of several pictures of one size, on the 0..255 scale. Samples that are not finite or out
/// of the filters' range are NaN.
struct PlaneStack {
  std::vector<Plane<float>> pictures;
  ClipBounds bounds;
};

/// Loads plane `i` of all `frames`, which must have one format. The minimum or maximum is a clip
/// limit if many samples have this value (16 and 235 in video, or floats that were clipped).
/// Otherwise, integer samples have the ends of the scale as limits, and float samples have no
/// limits.
[[nodiscard]] PlaneStack load_stack(std::span<const Frame> frames, int i);

/// The grid of blocks in pictures of one size. The grid does not cover letterboxes.
struct PictureBlocks {
  int step = 0, columns = 0, rows = 0;  // grid of each picture; blocks are `step` apart
  std::vector<int> corners;             // x, y of the first block of each picture
  /// Number of clipped samples of each block, in the source plane with the most clipped samples.
  std::vector<std::uint8_t> clipped;
  int constant = 0;  // number of blocks with equal samples that are not clipped

  static constexpr int side = 8;
  /// Value of `clipped` for an unusable block: all its samples are equal, or one is NaN.
  static constexpr std::uint8_t unusable = 255;
  std::size_t size() const { return clipped.size(); }
};

/// Places a grid of at most about `max_blocks` blocks on `filtered_plane`. The function counts
/// clipped samples in `sources`, the planes from which `filtered_plane` is computed. All planes
/// must have one size.
[[nodiscard]] PictureBlocks cut_blocks(const PlaneStack& filtered_plane,
                                       std::span<const PlaneStack> sources, std::size_t max_blocks);

/// Returns the coefficients of the orthonormal 8x8 DCT of each block, row by row (v, u): 64 numbers
/// for each block, 0 for unusable blocks.
[[nodiscard]] std::vector<float> coefficients(const PlaneStack& plane, const PictureBlocks& blocks);

}  // namespace lull
