#pragma once
// Thread blocks of rank.cu, and the layout of their shared memory, without CUDA types.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bm4d/params.h"
#include "bm4d/propagation.h"
#include "core/round_up.h"

namespace lull::bm4d::cuda {

/// Number of reference cubes of a thread block along x, and maximum number along y and z.
inline constexpr int rank_side = 4;
/// Number of words of the list of candidates of a warp.
inline constexpr int rank_list_size = round_up(max_listed, 32);
/// Returns the number of words of the bitmap of a search window.
constexpr int rank_map_words(int window) { return (window * window * window + 31) / 32; }

/// Layout of the part of the guide that shared memory contains. `rows` is the number of rows of a
/// slice. `pitch` and `plane` are the numbers of words of a row and of a slice.
struct RankTile {
  int pitch, rows, plane;

  /// `block_rows` is the number of reference cubes of a thread block along y.
  static constexpr RankTile of(const PhaseParams& p, int block_rows) {
    RankTile tile{};
    // The 3 additional samples are necessary because a load of four samples may begin up to three
    // samples before the search windows.
    tile.pitch = round_up(p.step * (rank_side - 1) + p.window + 3, 4);
    tile.rows = p.step * (block_rows - 1) + p.window + p.cube - 1;
    tile.plane = tile.pitch * tile.rows;
    return tile;
  }
};

/// The numbers of reference cubes of a thread block along z and along y.
struct RankPlan {
  int layers, rows;

  /// Returns the size of the dynamic shared memory: the guide, and a list and a bitmap for each
  /// warp.
  constexpr std::size_t bytes(const PhaseParams& p) const {
    const int slices = p.step * (layers - 1) + p.window + p.cube - 1;
    const int lists = rank_side * rows * (rank_list_size + rank_map_words(p.window));
    return sizeof(std::uint32_t) *
           static_cast<std::size_t>(RankTile::of(p, rows).plane * slices + lists);
  }
};

/// Returns the largest thread block, for up to `layers` reference cubes along z, that fits in
/// `limit` bytes of dynamic shared memory. On all supported GPUs, at least two rows fit.
constexpr RankPlan plan_rank(const PhaseParams& p, int layers, std::size_t limit) {
  RankPlan plan{std::min(rank_side, layers), rank_side};
  while (plan.layers > 1 && plan.bytes(p) > limit) plan.layers /= 2;
  while (plan.rows > 1 && plan.bytes(p) > limit) plan.rows /= 2;
  return plan;
}

}  // namespace lull::bm4d::cuda
