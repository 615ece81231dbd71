#pragma once
// The kernel of filter.cuh's description, and its launch: tiles in shared memory and groups for
// warps.

#include <algorithm>
#include <type_traits>

#include "bm3d/filter_group.cuh"
#include "cuda/shared_memory.h"

namespace lull::bm3d::filter_detail {

constexpr int threads = 256;
constexpr int warps = threads / 32;

/// How many reference patches a thread block takes, and the union of their windows.
struct Tile {
  int log2_x = 2, log2_y = 2;  // of the reference patches; at least block_side
  int rows = 0;                // of samples; 0: no room in shared memory

  constexpr int references() const { return 1 << (log2_x + log2_y); }
  constexpr int words() const { return rows * tile_pitch; }
};

/// The sums of a frame in shared memory: those of all frames stand one below the other.
struct FrameRows {
  int first = 0, count = 0;
};

struct KernelArgs {
  FilterArgs filter;
  Tile tile;
  int radius;
  Strength strength;
  // Staging::sums:
  int other_radius = 0;
  FrameRows rows[GroupFrames::most] = {};
};

template <Staging staging>
__device__ __forceinline__ int pitch_of(const FilterArgs& f) {
  return staging == Staging::shared ? tile_pitch : f.margins.pitch;
}

/// Calls use(word of the tile, offset in the plane from the tile's first sample) for all places.
template <class Use>
__device__ __forceinline__ void for_tile(const Tile& tile, int plane_pitch, Use use) {
  const int lane = threadIdx.x & 31;
  for (int y = threadIdx.x >> 5; y < tile.rows; y += warps)
#pragma unroll
    for (int x = 0; x < tile_pitch; x += 32)
      if (x + 32 <= tile_pitch || lane < tile_pitch - x)
        use(y * tile_pitch + x + lane, y * plane_pitch + x + lane);
}

/// A plane's samples around the block, each with its right neighbour, as halves.
__device__ __forceinline__ void load_tile(const float* first, int plane_pitch, float level,
                                          const Tile& tile, std::uint32_t* samples) {
  for_tile(tile, plane_pitch, [&](int word, int at) {
    samples[word] = pack_halves(first[at] - level, first[at + 1] - level);
  });
}

/// Where the sums of one frame are, from the block's first reference patch on.
struct FrameSums {
  int word;    // in shared memory, for the place of that patch
  int offset;  // in the plane, for the first word of the frame's rows
};

/// Of frame `t` (GroupFrames), which has the block's motion.
__device__ inline FrameSums sums_of_frame(const KernelArgs& a, int t, int first_x, int first_y) {
  const FilterArgs& f = a.filter;
  Motion v;
  if (f.frames.motion[t] != nullptr)
    v = f.frames.grid.vector(f.frames.motion[t],
                             f.batch.x0 * block_side + (blockIdx.x << a.tile.log2_x),
                             f.batch.y0 * block_side + (blockIdx.y << a.tile.log2_y));
  const int radius = t == max_temporal ? a.radius : a.other_radius;
  return {(a.rows[t].first + radius - v.y) * tile_pitch + radius - v.x,
          f.frames.distance[t] + f.margins.at(first_x + v.x - radius, first_y + v.y - radius)};
}

/// The group of one reference patch as it stands in memory.
struct GroupHead {
  bool exists;
  int log2_count;
  std::uint32_t displacement;  // of patch lane >> log2_repeats
  int x, y;                    // of the reference patch, from the block's first
};

template <int S>
__device__ __forceinline__ GroupHead fetch(const KernelArgs& a, int r, int first_x, int first_y,
                                           int lane) {
  const FilterArgs& f = a.filter;
  const int rx = r & ((1 << a.tile.log2_x) - 1), ry = r >> a.tile.log2_x;
  const int local_i = (blockIdx.x << a.tile.log2_x) + rx;
  const int local_j = (blockIdx.y << a.tile.log2_y) + ry;
  const int i = f.batch.x0 * block_side + local_i, j = f.batch.y0 * block_side + local_j;
  const int block_x = local_i / block_side, block_y = local_j / block_side;
  GroupHead head{};
  head.exists = r < a.tile.references() && block_x < f.batch.blocks_x &&
                block_y < f.batch.blocks_y && i < f.grid.count_x && j < f.grid.count_y;
  if (!head.exists) return head;
  const int index = (block_y * f.batch.blocks_x + block_x) * block_references +
                    (ry % block_side) * block_side + rx % block_side;
  head.log2_count = f.groups.log2_count[index];
  head.displacement =
      f.groups.displacements[index * f.groups.capacity +
                             ((lane & (16 * S - 1)) >> ((S == 1 ? 4 : 5) - head.log2_count))];
  head.x = f.grid.x(i) - first_x;
  head.y = f.grid.y(j) - first_y;
  return head;
}

constexpr int least_blocks(bool second_phase, int S) {
  return second_phase ? (S == 1 ? 3 : 2) : (S == 1 ? 4 : 2);
}

template <bool second_phase, int S, class Transform2d, class GroupTransform, Staging staging>
__global__ void __launch_bounds__(threads, least_blocks(second_phase, S))
    filter_kernel(const KernelArgs a) {
  extern __shared__ std::uint32_t memory[];
  __shared__ float window[patch];
  __shared__ FrameSums frame_sums[GroupFrames::most];
  const FilterArgs& f = a.filter;
  std::uint32_t *const noisy_tile = memory, *const basic_tile = memory + a.tile.words();
  int* const values = reinterpret_cast<int*>(memory + (second_phase ? 2 : 1) * a.tile.words());
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, plane = blockIdx.z;
  const int first_x = f.grid.x(f.batch.x0 * block_side + (blockIdx.x << a.tile.log2_x));
  const int first_y = f.grid.y(f.batch.y0 * block_side + (blockIdx.y << a.tile.log2_y));
  const int start = f.margins.at(first_x - a.radius, first_y - a.radius);
  const float level = f.noisy[plane][f.margins.at(first_x + patch / 2, first_y + patch / 2)];

  if (threadIdx.x < patch) window[threadIdx.x] = f.window[threadIdx.x];
  if constexpr (staging == Staging::shared) {
    load_tile(f.noisy[plane] + start, f.margins.pitch, level, a.tile, noisy_tile);
    if constexpr (second_phase)
      load_tile(f.basic[plane] + start, f.margins.pitch, level, a.tile, basic_tile);
    for (int i = threadIdx.x; i < a.tile.words(); i += threads) values[i] = 0;
  } else if constexpr (staging == Staging::sums) {  // the tile has the rows of all frames
    for (int i = threadIdx.x; i < a.tile.words(); i += threads) memory[i] = 0;
    if (threadIdx.x < GroupFrames::most)
      frame_sums[threadIdx.x] = sums_of_frame(a, threadIdx.x, first_x, first_y);
  }
  __syncthreads();

  const Operands<Transform2d, GroupTransform> operands(window, lane);
  const NoiseScale<S, GroupTransform> noise(lane);
  const int pitch = pitch_of<staging>(f), column = 2 * (lane & 3);
  const auto samples_of = [&](const std::uint32_t* tile, const float* samples) {
    return Samples<staging>{staging == Staging::shared
                                ? static_cast<const void*>(tile + column)
                                : static_cast<const void*>(samples + start + column),
                            pitch, level};
  };
  GroupHead next = fetch<S>(a, warp, first_x, first_y, lane);
  for (int r = warp; r < a.tile.references(); r += warps) {
    const GroupHead head = next;
    next = fetch<S>(a, r + warps, first_x, first_y, lane);
    if (!head.exists) continue;

    const int log2_repeats = (S == 1 ? 4 : 5) - head.log2_count;
    const int y = head.y + a.radius + displacement_y(head.displacement);
    const int x = head.x + a.radius + displacement_x(head.displacement);
    int own_offset = y * pitch + x;
    int sum_offset = start + y * f.margins.pitch + x, sum_word = 0;
    if constexpr (staging != Staging::shared) {
      const int t = displacement_t(head.displacement) + max_temporal;
      const int distance = f.frames.distance[t];
      own_offset += distance, sum_offset += distance;
      if constexpr (staging == Staging::sums)
        sum_word = frame_sums[t].word + (y - a.radius) * tile_pitch + x - a.radius;
    }
    int offset[S][2];
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int b = 0; b < 2; ++b)
        offset[s][b] = __shfl_sync(~0u, own_offset, S * ((lane >> 2) + 8 * b) + s);

    const auto transform = [&](const Samples<staging>& samples, Slots(&patches)[S]) {
#pragma unroll
      for (int s = 0; s < S; ++s)
        transform_patches<Transform2d>(samples, offset[s], operands.rows, patches[s]);
    };
    const float sigma = f.sigma[plane], repeats = static_cast<float>(1 << log2_repeats);
    Spectrum<S> spectrum;
    Slots patches[S];
    float weight;
    if constexpr (!second_phase) {
      transform(samples_of(noisy_tile, f.noisy[plane]), patches);
      const int kept = threshold<S, Transform2d>(
          patches, operands.group, a.strength.value * sigma * exp2f(0.5f * log2_repeats),
          a.strength.mean_factor, noise, lane, spectrum);
      weight = reciprocal(static_cast<float>(kept) * repeats);
    } else {
      transform(samples_of(basic_tile, f.basic[plane]), patches);
      const float energy = wiener_factors<S, Transform2d>(
          patches, operands.group, a.strength.value * sigma * sigma * repeats, noise, lane,
          spectrum);
      weight = reciprocal(energy * repeats);
      transform(samples_of(noisy_tile, f.noisy[plane]), patches);
      apply_factors<S, GroupTransform>(patches, operands.group, spectrum);
    }

    // The weight is rounded to what a half and the fixed point hold both, so that it counts in the
    // estimates exactly as in the sum of weights.
    weight = __half2float(__float2half_rn(rintf(weight * weight_scale) / weight_scale));
    const float target_offset = weight * (level - mid_level) * value_scale;
    if constexpr (staging == Staging::shared)
      aggregate_group<S, Transform2d, GroupTransform, staging>(
          spectrum, offset, operands, weight, Target<int>{values, f.window, pitch, target_offset},
          lane);
    else if constexpr (staging == Staging::sums) {
#pragma unroll
      for (int s = 0; s < S; ++s)
#pragma unroll
        for (int b = 0; b < 2; ++b)
          offset[s][b] = __shfl_sync(~0u, sum_word, S * ((lane >> 2) + 8 * b) + s);
      aggregate_group<S, Transform2d, GroupTransform, staging>(
          spectrum, offset, operands, weight,
          Target<int>{reinterpret_cast<int*>(memory), f.window, tile_pitch, target_offset}, lane);
    } else
      aggregate_group<S, Transform2d, GroupTransform, staging>(
          spectrum, offset, operands, weight,
          Target<unsigned long long>{f.sums[plane].numerator + start, f.window, pitch,
                                     target_offset},
          lane);
    if (lane < 16 * S)
      atomicAdd(&f.sums[plane].denominator[sum_offset],
                static_cast<std::uint32_t>(weight * weight_scale));
  }
  if constexpr (staging == Staging::shared) {
    __syncthreads();
    unsigned long long* const sums = f.sums[plane].numerator + start;
    for_tile(a.tile, f.margins.pitch, [&](int word, int at) {
      if (const int value = values[word]; value != 0) add(sums + at, value);
    });
  } else if constexpr (staging == Staging::sums) {
    __syncthreads();
    for (int t = 0; t < GroupFrames::most; ++t) {
      const Tile rows{0, 0, a.rows[t].count};
      const int* const own = reinterpret_cast<const int*>(memory) + a.rows[t].first * tile_pitch;
      unsigned long long* const sums = f.sums[plane].numerator + frame_sums[t].offset;
      for_tile(rows, f.margins.pitch, [&](int word, int at) {
        if (const int value = own[word]; value != 0) add(sums + at, value);
      });
    }
  }
}

/// Tiles of a whole picture.
inline int count_tiles(const ReferenceGrid& grid, const Tile& tile) {
  const auto divide_up = [](int count, int log2) { return (count + (1 << log2) - 1) >> log2; };
  return divide_up(grid.count_x, tile.log2_x) * divide_up(grid.count_y, tile.log2_y);
}

/// The largest tile of at most 8x8 reference patches that fits into shared memory, whose sums stay
/// in range, and of which there are enough to keep the device busy; else the smallest. All this
/// must not depend on the batch, as bytes depend on the tile.
inline Tile choose_tile(const FilterArgs& filter, const PhaseParams& phase, int arrays,
                        std::size_t limit) {
  const int enough = 3 * cuda::multiprocessors();
  const int most = phase.group <= 16 ? 64 : 32;
  Tile smallest;
  const auto span = [&](int log2) {
    return phase.window + ((1 << log2) - 1) * phase.step + patch - 1;
  };
  for (const auto& [log2_x, log2_y] : {std::pair{3, 3}, {3, 2}, {2, 3}, {2, 2}}) {
    const Tile tile{log2_x, log2_y, span(log2_y)};
    const std::size_t bytes = sizeof(std::uint32_t) * arrays * tile.words();
    if (tile.references() > most || span(log2_x) > tile_pitch || bytes > limit) continue;
    smallest = tile;
    if (count_tiles(filter.grid, tile) * filter.planes >= enough) break;
  }
  return smallest;
}

/// Tiles of 8x4 reference patches, which have their motion in common, for the sums of all frames;
/// without rows where they do not fit.
inline void plan_frames(const PhaseParams& phase, std::size_t limit, KernelArgs& args) {
  const int columns = (motion_columns - 1) * phase.step + patch - 1;
  const int own_rows = (motion_rows - 1) * phase.step + patch - 1;
  args.tile = {3, 2, 0};
  args.other_radius = phase.temporal_window / 2;
  for (int t = 0; t < GroupFrames::most; ++t) {
    if (!args.filter.frames.present[t]) continue;
    const int window = t == max_temporal ? phase.window : phase.temporal_window;
    args.rows[t] = {args.tile.rows, window + own_rows};
    args.tile.rows += args.rows[t].count;
  }
  if (std::max(phase.window, phase.temporal_window) + columns > tile_pitch ||
      sizeof(int) * args.tile.words() > limit)
    args.tile.rows = 0;
}

template <bool second_phase, int S, class Transform2d, class GroupTransform>
void launch(const FilterArgs& filter, const PhaseParams& phase, const Strength& strength,
            cudaStream_t stream) {
  constexpr int arrays = second_phase ? 3 : 2;  // samples of one or two planes, sums
  // Only for the group transform that the profiles have: kernels take long to compile.
  constexpr bool has_sums = std::is_same_v<GroupTransform, Haar>;
  KernelArgs args{filter, {}, phase.window / 2, strength};
  const std::size_t limit = cuda::dynamic_shared_limit();
  if (filter.frames.over_time)
    plan_frames(phase, has_sums ? limit : 0, args);
  else
    args.tile = choose_tile(filter, phase, arrays, limit);
  const int side_x = 1 << (args.tile.log2_x - 2), side_y = 1 << (args.tile.log2_y - 2);
  const dim3 grid((filter.batch.blocks_x + side_x - 1) / side_x,
                  (filter.batch.blocks_y + side_y - 1) / side_y, filter.planes);
  const auto start = [&](auto* kernel, int shared_arrays) {
    cuda::allow_shared_memory(kernel);
    kernel<<<grid, threads, sizeof(std::uint32_t) * shared_arrays * args.tile.words(), stream>>>(
        args);
  };
  if (args.tile.rows == 0)
    start(filter_kernel<second_phase, S, Transform2d, GroupTransform, Staging::direct>, 0);
  else if (!filter.frames.over_time)
    start(filter_kernel<second_phase, S, Transform2d, GroupTransform, Staging::shared>, arrays);
  else if constexpr (has_sums)
    start(filter_kernel<second_phase, S, Transform2d, GroupTransform, Staging::sums>, 1);
  cuda::check(cudaGetLastError());
}

template <bool second_phase, class Transform2d>
void dispatch(const FilterArgs& filter, const PhaseParams& phase, const Strength& strength,
              cudaStream_t stream) {
  const bool haar = phase.group_transform == GroupTransform::haar;
  if (phase.group <= 16) {
    if (haar)
      launch<second_phase, 1, Transform2d, Haar>(filter, phase, strength, stream);
    else
      launch<second_phase, 1, Transform2d, WalshHadamard>(filter, phase, strength, stream);
  } else {
    if (haar)
      launch<second_phase, 2, Transform2d, Haar>(filter, phase, strength, stream);
    else
      launch<second_phase, 2, Transform2d, WalshHadamard>(filter, phase, strength, stream);
  }
}

void filter_hard_dct(const FilterArgs&, const PhaseParams&, const Strength& lambda, cudaStream_t);
void filter_hard_bior(const FilterArgs&, const PhaseParams&, const Strength& lambda, cudaStream_t);
void filter_wiener_dct(const FilterArgs&, const PhaseParams&, const Strength& mu2, cudaStream_t);
void filter_wiener_bior(const FilterArgs&, const PhaseParams&, const Strength& mu2, cudaStream_t);

}  // namespace lull::bm3d::filter_detail
