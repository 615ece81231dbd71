#pragma once
// What a thread block of the filter kernels has in shared memory: a tile of samples around its
// reference patches, and the sums of their estimates.

#include "bm3d/cuda/filter/filter_group.cuh"

namespace lull::bm3d::filter_detail {

template <bool second_phase, int M, class Transform2d, class GroupTransform, Staging staging>
class WhiteGroup;

/// For white noise. `Group`: what filters a group and how it holds it (WhiteGroup).
struct KernelArgs {
  template <bool second_phase, int M, class Transform2d, class GroupTransform, Staging staging>
  using Group = WhiteGroup<second_phase, M, Transform2d, GroupTransform, staging>;

  FilterArgs filter;
  Tile tile;
  int radius;
  Strength strength;
  // Staging::sums:
  int other_radius = 0;
  std::array<FrameRows, max_frames> rows{};
};

/// Where the sums of one frame are, from the block's first reference patch on.
struct FrameSums {
  int word;    // in shared memory, for the place of that patch
  int offset;  // in the plane, for the first word of the frame's rows
};

/// What a thread block works on, and its shared memory.
struct Work {
  std::uint32_t *noisy_tile, *basic_tile;  // Staging::shared
  int* values;                             // sums of the tile
  int* row_offsets;                        // Staging::sums: in the plane, of the tile's rows
  const FrameSums* frame_sums;             // the same
  int plane;
  int first_x, first_y;  // first reference patch
  int start;             // in the plane, of the tile
  int skew;              // columns of the tile before the window of the first patch
  float level;           // the sample that all are told from
};

template <Staging staging>
__device__ __forceinline__ int pitch_of(const FilterArgs& f) {
  return staging == Staging::shared ? tile_pitch : f.margins.pitch;
}

/// Of a tile in shared memory.
template <Staging staging>
__device__ __forceinline__ int tile_pitch_of(const KernelArgs& a) {
  return staging == Staging::shared ? tile_pitch : a.tile.pitch;
}

/// Row and column of the i-th place of a tile with so many columns.
struct TilePlace {
  int y, x;
  __device__ __forceinline__ TilePlace(unsigned i, unsigned columns, std::uint32_t inverse) {
    const unsigned row = __umulhi(i, inverse);
    y = static_cast<int>(row), x = static_cast<int>(i - row * columns);
  }
};

struct FourSamples {
  float at[4];
  /// From an even place of a plane.
  __device__ __forceinline__ explicit FourSamples(const float* samples) {
    const float2 a = *reinterpret_cast<const float2*>(samples);
    const float2 b = *reinterpret_cast<const float2*>(samples + 2);
    at[0] = a.x, at[1] = a.y, at[2] = b.x, at[3] = b.y;
  }
};

/// A plane's samples around the block, each with its neighbour below or at the right, as halves.
template <bool with_below>
__device__ __forceinline__ void load_tile(const float* first, int plane_pitch, float level,
                                          const Tile& tile, std::uint32_t* samples) {
  const unsigned quads = tile.columns / 4;
  for (unsigned i = threadIdx.x; i < tile.rows * quads; i += threads) {
    const TilePlace place(i, quads, tile.quads_inverse);
    const int y = place.y, x = 4 * place.x;
    const float* const from = first + y * plane_pitch + x;
    FourSamples own(from), next = own;
    if constexpr (with_below) {  // below the last row none is used
      next = FourSamples(from + (y + 1 < tile.rows ? plane_pitch : 0));
    } else {
      next.at[0] = own.at[1], next.at[1] = own.at[2], next.at[2] = own.at[3];
      next.at[3] = from[4];
    }
    const auto pair = [&](int i) { return pack_halves(own.at[i] - level, next.at[i] - level); };
    *reinterpret_cast<uint4*>(samples + y * tile_pitch + x) =
        make_uint4(pair(0), pair(1), pair(2), pair(3));
  }
}

/// Of frame `t` (GroupFrames), which has the block's motion.
__device__ inline FrameSums sums_of_frame(const KernelArgs& a, int t, int first_x, int first_y) {
  const FilterArgs& f = a.filter;
  Motion v;
  if (f.frames.motion.values[t] != nullptr)
    v = f.frames.grid.vector(
        f.frames.motion.values[t], f.batch.x0 * brick_side + (blockIdx.x << a.tile.log2_x),
        f.batch.y0 * brick_side + (blockIdx.y << a.tile.log2_y), f.grid.count_x, f.grid.count_y);
  const int radius = t == max_temporal ? a.radius : a.other_radius;
  return {
      (a.rows[t].first + radius - v.y) * a.tile.pitch + radius - v.x,
      f.frames.distance.values[t] + f.margins.at(first_x + v.x - radius, first_y + v.y - radius)};
}

/// Before groups: the tile's samples, and sums of zero. The block has to meet then.
template <bool second_phase, Staging staging, bool with_below>
__device__ __forceinline__ void fill_tiles(const KernelArgs& a, const Work& work,
                                           FrameSums* frame_sums) {
  const FilterArgs& f = a.filter;
  if constexpr (staging == Staging::shared) {
    load_tile<with_below>(f.noisy[work.plane] + work.start, f.margins.pitch, work.level, a.tile,
                          work.noisy_tile);
    if constexpr (second_phase)
      load_tile<with_below>(f.basic[work.plane] + work.start, f.margins.pitch, work.level, a.tile,
                            work.basic_tile);
  }
  if constexpr (staging != Staging::direct)
    for (int i = threadIdx.x; i < a.tile.rows * tile_pitch_of<staging>(a) / 4; i += threads)
      reinterpret_cast<int4*>(work.values)[i] = make_int4(0, 0, 0, 0);
  if constexpr (staging == Staging::sums) {
    // A warp for each frame, in turn.
    for (int t = threadIdx.x / 32; t < max_frames; t += warps) {
      const FrameRows& rows = a.rows[t];
      if (rows.count == 0) continue;
      const FrameSums sums = sums_of_frame(a, t, work.first_x, work.first_y);
      if (threadIdx.x % 32 == 0) frame_sums[t] = sums;
      for (int y = threadIdx.x % 32; y < rows.count; y += 32)
        work.row_offsets[rows.first + y] = sums.offset + y * f.margins.pitch;
    }
  }
}

/// After them: sums to device memory.
template <Staging staging>
__device__ __forceinline__ void empty_tiles(const KernelArgs& a, const Work& work) {
  if constexpr (staging == Staging::direct) return;
  const FilterArgs& f = a.filter;
  const int pitch = tile_pitch_of<staging>(a);
  unsigned long long* const sums = f.sums[work.plane].numerator;
  __syncthreads();
  // Neighbouring lanes have neighbouring sums, which are few transactions of memory then.
  const unsigned columns = a.tile.columns;
  for (unsigned i = threadIdx.x; i < a.tile.rows * columns; i += threads) {
    const TilePlace place(i, columns, a.tile.columns_inverse);
    const int value = work.values[place.y * pitch + place.x];
    if (value == 0) continue;
    const int row = staging == Staging::sums ? work.row_offsets[place.y]
                                             : work.start + place.y * f.margins.pitch;
    add(sums + row + place.x, value);
  }
}

}  // namespace lull::bm3d::filter_detail
