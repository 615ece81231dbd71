#pragma once
// The tile of a thread block of filter_tile.cu in shared memory: the union of the search windows of
// its reference cubes.

#include "bm4d/cuda/kernels.h"
#include "cuda/warp.cuh"

namespace lull::bm4d::cuda::filter_detail {

constexpr int block_side = 4;   // reference cubes of a block along x and y, and at most along z
constexpr int tile_shift = 11;  // sums of the tile have a unit of 2^11 / estimate_unit
// The fixed-point unit of the sums of the tile.
constexpr float tile_unit = estimate_unit / (1 << tile_shift);

/// Layout of the arrays that a thread block has in shared memory. Each array has one 32-bit word
/// for each voxel of the tile.
struct TilePlan {
  int layers;  // layers of reference cubes in a block
  /// `side`: rows and columns of the tile. `pitch` and `plane`: words of a row and of a slice.
  int side, pitch, plane;
  int depth;              // slices
  std::uint32_t inverse;  // 2^16 / side, rounded up

  static constexpr TilePlan of(const PhaseParams& p, int layers) {
    // The kernel reads cubes of 3x3x3 voxels as 4x4x3 voxels, so the tile needs one more row and
    // column.
    const int reach = p.window + p.cube - 1,
              side = p.step * (block_side - 1) + reach + (p.cube == 3);
    const int pitch = side | 1;
    return {layers,
            side,
            pitch,
            side * pitch,
            p.step * (layers - 1) + reach,
            (65536u + side - 1) / side};
  }
  /// Returns the maximum number of layers (reference cubes with the same z position) in a thread
  /// block: the largest power of two, up to 4, for which at least one slice belongs to all search
  /// windows.
  static constexpr int max_layers(const PhaseParams& p) {
    const int most = 1 + (2 * p.radius() + p.cube - 1) / p.step;
    return most >= 4 ? 4 : most >= 2 ? 2 : 1;
  }
  __host__ __device__ constexpr int words() const { return (depth * plane + pitch + 3) / 4 * 4; }
  constexpr std::size_t bytes(bool wiener) const {
    return sizeof(std::uint32_t) * words() * (wiener ? 3 : 2);
  }
};

struct TileArgs {
  FilterPlan filter;
  TilePlan tile;
  Ring<float> noisy, basic;
  VolumeSums sums;
  Margins margins;
  ReferenceCubes cubes;
  const std::uint32_t* groups;
  /// Index along z of the first thread block of the launch. Block 0 contains the first reference
  /// cubes of the volume. The value -1 means that the launch filters only the reference cubes at
  /// the end of the volume.
  int first_block;
};

/// Parameters from which the filter kernel computes addresses. If `window` is positive, the
/// parameters are compile-time constants for a profile. If `window` is 0, they are kernel
/// arguments.
template <int cube, int window, int step, int layers>
struct Shape {
  static constexpr TilePlan fixed =
      TilePlan::of({.cube = cube, .window = window > 0 ? window : 3, .step = step}, layers);
  int radius, spacing;  // window radius; distance between reference cubes
  TilePlan tile;

  __device__ __forceinline__ explicit Shape(const TileArgs& a)
      : radius(window > 0 ? window / 2 : a.cubes.params.radius()),
        spacing(window > 0 ? step : a.cubes.params.step),
        tile(window > 0 ? fixed : a.tile) {}
  __device__ __forceinline__ int position(int index, int length) const {
    return min(index * spacing, length - cube);
  }
};

struct BlockPlace {
  int x, y, z;      // position of the first reference cube
  int first_layer;  // index of its z position in the launch; may be negative
  int start;        // position of the tile's first voxel in a slice
  float level;

  template <class Shape>
  __device__ __forceinline__ BlockPlace(const TileArgs& a, const Shape& shape) {
    const int cube = a.cubes.params.cube;
    x = shape.position(blockIdx.x * block_side, a.margins.width);
    y = shape.position(blockIdx.y * block_side, a.margins.height);
    const int block = a.first_block + static_cast<int>(blockIdx.z);
    z = a.first_block < 0 ? a.cubes.z : block * shape.tile.layers * shape.spacing;
    first_layer = (z - a.cubes.z) / shape.spacing;
    start = a.margins.at(x - shape.radius, y - shape.radius);
    const int layers = a.first_block < 0 ? 1 : shape.tile.layers;
    const int middle =
        min(z + ((layers - 1) * shape.spacing + cube) / 2, a.cubes.available.end - 1);
    level =
        a.noisy.at(max(middle, a.cubes.available.first))[a.margins.at(x + cube / 2, y + cube / 2)];
  }
};

constexpr int max_slices = 32;  // maximum number of slices in a tile

/// For each slice of the tile, its position in each ring buffer. If a slice does not exist, the
/// kernel uses the nearest existing slice instead.
struct SlicePlaces {
  int noisy[max_slices], basic[max_slices], sums[max_slices];
  bool exists[max_slices];

  template <class Shape>
  __device__ __forceinline__ void find(const TileArgs& a, const Shape& shape, int first) {
    const int k = threadIdx.x;
    if (k >= shape.tile.depth) return;
    const int z = min(max(first + k, a.cubes.available.first), a.cubes.available.end - 1);
    noisy[k] = z % a.noisy.depth;
    basic[k] = z % a.basic.depth;
    sums[k] = z % a.sums.numerator.depth;
    exists[k] = z == first + k;
  }
};

/// A row of the tile: its slice, its offset in the tile in words, and the position of its first
/// voxel in the slice.
struct TileRow {
  int slice, word, place;
  template <class Shape>
  __device__ __forceinline__ TileRow(const Shape& shape, int row, int start, int pitch) {
    slice = static_cast<int>(row * shape.tile.inverse >> 16);
    const int y = row - slice * shape.tile.side;
    word = slice * shape.tile.plane + y * shape.tile.pitch;
    place = start + y * pitch;
  }
};

/// Loads the tile. A warp loads several rows at once, to hide the memory latency.
template <bool wiener, int warps, class Shape>
__device__ __forceinline__ void load_tile(const TileArgs& a, const Shape& shape,
                                          const BlockPlace& at, const SlicePlaces& slices,
                                          std::uint32_t* noisy, std::uint32_t* basic) {
  constexpr int together = wiener ? 4 : 6;
  const int lane = threadIdx.x % 32, rows = shape.tile.depth * shape.tile.side;
  const auto pair = [&](float v) {
    v -= at.level;
    return pack_halves(v, __shfl_down_sync(~0u, v, 1));
  };
  for (int first = threadIdx.x / 32; first < rows; first += together * warps) {
    float of_noisy[together], of_basic[together];
    int word[together];
#pragma unroll
    for (int i = 0; i < together; ++i) {
      const int row = min(first + i * warps, rows - 1);
      const TileRow own(shape, row, at.start + lane, a.margins.pitch);
      word[i] = own.word + lane;
      of_noisy[i] = __ldg(a.noisy.data + slices.noisy[own.slice] * a.noisy.slice + own.place);
      if (wiener)
        of_basic[i] = __ldg(a.basic.data + slices.basic[own.slice] * a.basic.slice + own.place);
    }
#pragma unroll
    for (int i = 0; i < together; ++i) {
      const std::uint32_t n = pair(of_noisy[i]), b = wiener ? pair(of_basic[i]) : 0u;
      if (lane >= shape.tile.pitch) continue;
      noisy[word[i]] = n;
      if (wiener) basic[word[i]] = b;
    }
  }
}

/// Adds the sums of the tile to the sums in device memory.
template <int warps, class Shape>
__device__ __forceinline__ void add_tile(const TileArgs& a, const Shape& shape,
                                         const BlockPlace& at, const SlicePlaces& slices,
                                         const int* sums) {
  const int lane = threadIdx.x % 32, rows = shape.tile.depth * shape.tile.side;
  if (lane >= shape.tile.side) return;
#pragma unroll 4
  for (int row = threadIdx.x / 32; row < rows; row += warps) {
    const TileRow own(shape, row, at.start + lane, a.margins.pitch);
    const int v = sums[own.word + lane];
    if (v != 0 && slices.exists[own.slice])
      atomicAdd(a.sums.numerator.data + slices.sums[own.slice] * a.sums.numerator.slice + own.place,
                static_cast<Sum>(static_cast<long long>(v) * (1 << tile_shift)));
  }
}

}  // namespace lull::bm4d::cuda::filter_detail
