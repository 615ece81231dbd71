#pragma once
// The shared memory of a thread block of the filter kernels: a tile of samples, and the sums of the
// estimates in the tile.

#include "bm3d/cuda/filter/filter_group.cuh"

namespace lull::bm3d::filter_detail {

template <bool second_phase, int M, class Transform2d, class GroupTransform, Staging staging>
class WhiteGroup;

/// Arguments of the kernel for white noise. `Group` is the class that contains and filters a group
/// (WhiteGroup).
struct KernelArgs {
  template <bool second_phase, int M, class Transform2d, class GroupTransform, Staging staging>
  using Group = WhiteGroup<second_phase, M, Transform2d, GroupTransform, staging>;

  FilterArgs filter;
  Tile tile;
  int radius;
  Strength strength;
  // Parameters of kernels with Staging::sums.
  int other_radius = 0;
  std::array<FrameRows, max_frames> rows{};
};

/// Location of the sums of one frame, relative to the first reference patch of the thread block.
struct FrameSums {
  int word;    // index in shared memory of the position of that patch
  int offset;  // offset in the plane of the first word of these rows
};

/// The groups and the shared memory of one thread block.
struct Work {
  std::uint32_t *noisy_tile, *basic_tile;  // Staging::shared
  int* values;                             // sums of the estimates in the tile
  // Offset of each row of the tile in the plane. Only kernels with Staging::sums use these offsets.
  int* row_offsets;
  const FrameSums* frame_sums;  // Staging::sums
  int plane;
  int first_x, first_y;  // position of the first reference patch
  int start;             // offset of the tile in the plane
  int skew;              // number of columns of the tile before the window of the first patch
  float level;           // the sample that is subtracted from all others
};

template <Staging staging>
__device__ __forceinline__ int pitch_of(const FilterArgs& f) {
  return staging == Staging::shared ? tile_pitch : f.margins.pitch;
}

/// Returns the stride of a tile in shared memory.
template <Staging staging>
__device__ __forceinline__ int tile_pitch_of(const KernelArgs& a) {
  return staging == Staging::shared ? tile_pitch : a.tile.pitch;
}

/// Row and column of the element `i` of a tile. `inverse` is 2^32 / columns.
struct TilePosition {
  int y, x;
  __device__ __forceinline__ TilePosition(unsigned i, unsigned columns, std::uint32_t inverse) {
    const unsigned row = __umulhi(i, inverse);
    y = static_cast<int>(row), x = static_cast<int>(i - row * columns);
  }
};

struct FourSamples {
  float at[4];
  /// Reads four adjacent samples of a plane, from an even position on.
  __device__ __forceinline__ explicit FourSamples(const float* samples) {
    const float2 a = *reinterpret_cast<const float2*>(samples);
    const float2 b = *reinterpret_cast<const float2*>(samples + 2);
    at[0] = a.x, at[1] = a.y, at[2] = b.x, at[3] = b.y;
  }
};

/// Loads a tile from a plane in half precision. A word contains two samples: the sample at the
/// position of the word, and the sample below (if `pairs_rows` is true) or the sample to the right.
template <bool pairs_rows>
__device__ __forceinline__ void load_tile(const float* first, int plane_pitch, float level,
                                          const Tile& tile, std::uint32_t* samples) {
  const unsigned quads = tile.columns / 4;
  for (unsigned i = threadIdx.x; i < tile.rows * quads; i += threads) {
    const TilePosition place(i, quads, tile.quads_inverse);
    const int y = place.y, x = 4 * place.x;
    const float* const from = first + y * plane_pitch + x;
    FourSamples own(from), next = own;
    if constexpr (pairs_rows) {  // words of the last row contain no sample below
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

/// Returns the location of the sums of a frame. `t` is the index of the frame in GroupFrames.
__device__ inline FrameSums sums_of_frame(const KernelArgs& a, int t, int first_x, int first_y) {
  const FilterArgs& f = a.filter;
  Motion v;
  if (f.frames.motion.values[t] != nullptr)
    v = f.frames.grid.vector(f.frames.motion.values[t],
                             f.batch.x0 * reference_tile_side + (blockIdx.x << a.tile.log2_x),
                             f.batch.y0 * reference_tile_side + (blockIdx.y << a.tile.log2_y),
                             f.grid.count_x, f.grid.count_y);
  const int radius = t == max_temporal ? a.radius : a.other_radius;
  return {(a.rows[t].first + radius - v.y) * a.tile.pitch + radius - v.x,
          static_cast<PatchOffset<Staging::sums>>(f.frames.distance.values[t]) +
              f.margins.at(first_x + v.x - radius, first_y + v.y - radius)};
}

/// Loads the samples of the tile, and clears its sums. A call of __syncthreads() must follow.
template <bool second_phase, Staging staging, bool pairs_rows>
__device__ __forceinline__ void load_tiles(const KernelArgs& a, const Work& work,
                                           FrameSums* frame_sums) {
  const FilterArgs& f = a.filter;
  if constexpr (staging == Staging::shared) {
    load_tile<pairs_rows>(f.noisy[work.plane] + work.start, f.margins.pitch, work.level, a.tile,
                          work.noisy_tile);
    if constexpr (second_phase)
      load_tile<pairs_rows>(f.basic[work.plane] + work.start, f.margins.pitch, work.level, a.tile,
                            work.basic_tile);
  }
  if constexpr (staging != Staging::direct)
    for (int i = threadIdx.x; i < a.tile.rows * tile_pitch_of<staging>(a) / 4; i += threads)
      reinterpret_cast<int4*>(work.values)[i] = make_int4(0, 0, 0, 0);
  if constexpr (staging == Staging::sums) {
    // Each warp prepares the row offsets of one frame at a time.
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

/// Adds the sums of the tile to device memory, after the kernel has filtered all groups.
template <Staging staging>
__device__ __forceinline__ void flush_tiles(const KernelArgs& a, const Work& work) {
  if constexpr (staging == Staging::direct) return;
  const FilterArgs& f = a.filter;
  const int pitch = tile_pitch_of<staging>(a);
  unsigned long long* const sums = f.sums[work.plane].numerator;
  __syncthreads();
  // Neighbouring lanes add neighbouring sums, which coalesces memory transactions.
  const unsigned columns = a.tile.columns;
  for (unsigned i = threadIdx.x; i < a.tile.rows * columns; i += threads) {
    const TilePosition place(i, columns, a.tile.columns_inverse);
    const int value = work.values[place.y * pitch + place.x];
    if (value == 0) continue;
    const int row = staging == Staging::sums ? work.row_offsets[place.y]
                                             : work.start + place.y * f.margins.pitch;
    add(sums + row + place.x, value);
  }
}

}  // namespace lull::bm3d::filter_detail
