#pragma once
// The kernel of filter.cuh's description, and its launch.

#include <type_traits>

#include "bm3d/filter.cuh"
#include "cuda/shared_memory.h"

namespace lull::bm3d::filter_detail {

/// How the union of a block's windows lies in shared memory.
struct TileShape {
  int width, height;  // origins of candidates
  int pitch;          // words from row to row, of samples and of sums
  constexpr TileShape(int window, int step)
      : width(window + (block_side - 1) * step), height(width), pitch(width + patch) {
    pitch += (4 - pitch % 8 + 8) % 8;  // 4 modulo 8, as in matching
  }
  constexpr int words() const { return (height + patch - 1) * pitch; }
};

struct KernelArgs {
  FilterArgs filter;
  TileShape tile;
  int radius;
  Strength strength;
};

/// Samples, of one plane, as a block's warps read them: in halves, as differences from `level`.
/// Offsets are words of the tile (shared) or elements of the plane (direct).
template <Staging staging>
struct Samples {
  const void* at;
  int pitch;
  float level;
  /// Samples (x, y) and (x + 1, y) from `offset` on.
  __device__ std::uint32_t pair(int offset, int y) const {
    if constexpr (staging == Staging::shared)
      return static_cast<const std::uint32_t*>(at)[offset + y * pitch];
    const float* sample = static_cast<const float*>(at) + offset + y * pitch;
    return pack_halves(sample[0] - level, sample[1] - level);
  }
};

/// Lane (g, t)'s words of a matrix operand: elements (g, 2t) and (g, 2t + 1), scaled.
__device__ inline std::uint32_t matrix_operand(const Matrix8<float>& matrix, float scale,
                                               int lane) {
  const int g = lane >> 2, t = lane & 3;
  return pack_halves(matrix.at[g][2 * t] * scale, matrix.at[g][2 * t + 1] * scale);
}

template <class Transform2d>
__device__ inline const Matrix8<float>* matrices() {
  if constexpr (std::is_same_v<Transform2d, Dct>)
    return dct_matrices;
  else
    return bior_matrices;
}

/// What a lane knows of its group: places of its patches, and how often each stands.
template <int S>
struct LaneGroup {
  int offset[2 * S];  // of this lane's patches
  int own_offset;     // of patch `lane`, for the weights
  int log2_repeats;   // log2(N / M)
};

template <int S, class Transform2d, class GroupTransform>
struct Transform3d {
  std::uint32_t forward_operand, inverse_operand;
  GroupTransform across;

  __device__ explicit Transform3d(int lane)
      : forward_operand(matrix_operand(matrices<Transform2d>()[0], root_8, lane)),
        inverse_operand(matrix_operand(matrices<Transform2d>()[1], 1 / root_8, lane)),
        across(lane) {}

  template <Staging staging>
  __device__ __forceinline__ void forward(const Samples<staging>& samples,
                                          const LaneGroup<S>& group, Coefficients<S>& c) const {
    const int column = 2 * (threadIdx.x & 3);
#pragma unroll
    for (int s = 0; s < S; ++s) {
#pragma unroll
      for (int y = 0; y < 8; ++y)
        mma_half(c[s][y], samples.pair(group.offset[2 * s] + column, y),
                 samples.pair(group.offset[2 * s + 1] + column, y), forward_operand);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        float x[8];
#pragma unroll
        for (int y = 0; y < 8; ++y) x[y] = c[s][y][q];
        Transform2d::forward(x);
#pragma unroll
        for (int y = 0; y < 8; ++y) c[s][y][q] = x[y];
      }
    }
    across.template forward<S>(c);
  }

  /// Back across the group and vertically; the horizontal part is left to the caller, row by row.
  __device__ __forceinline__ void inverse_but_rows(Coefficients<S>& c) const {
    across.template inverse<S>(c);
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        float x[8];
#pragma unroll
        for (int y = 0; y < 8; ++y) x[y] = c[s][y][q];
        Transform2d::inverse(x);
#pragma unroll
        for (int y = 0; y < 8; ++y) c[s][y][q] = x[y];
      }
  }
};

/// The whole group's mean: lane 0 holds it first. It is always kept.
__device__ __forceinline__ bool is_mean(int lane, int s, int y, int q) {
  return s == 0 && y == 0 && q == 0 && lane == 0;
}

/// First phase. Returns the group's weight, for each repeat of a patch.
template <int S>
__device__ __forceinline__ float threshold(Coefficients<S>& c, float limit, float mean_factor,
                                           int log2_repeats, int lane) {
  const float limit_of_mean = lane < 4 ? limit * mean_factor : limit;  // lanes g = 0 hold the mean
  int retained = 0;
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int y = 0; y < 8; ++y)
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const float own_limit = s == 0 && q < 2 ? limit_of_mean : limit;
        const bool keep = fabsf(c[s][y][q]) > own_limit || is_mean(lane, s, y, q);
        c[s][y][q] = keep ? c[s][y][q] : 0.0f;
        retained += keep ? 1 : 0;
      }
  return 1.0f / static_cast<float>(warp_sum(retained) << log2_repeats);
}

/// Second phase: the basic estimate's coefficients become Wiener factors (in halves, two a word).
template <int S>
__device__ __forceinline__ float wiener_factors(const Coefficients<S>& basic, float noise,
                                                int log2_repeats, int lane,
                                                std::uint32_t (&factors)[S][8][2]) {
  float energy = 0;
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int y = 0; y < 8; ++y)
#pragma unroll
      for (int q = 0; q < 4; q += 2) {
        float a = basic[s][y][q] * basic[s][y][q];
        float b = basic[s][y][q + 1] * basic[s][y][q + 1];
        a = is_mean(lane, s, y, q) ? 1.0f : __fdividef(a, a + noise);
        b = __fdividef(b, b + noise);
        energy += a * a + b * b;
        factors[s][y][q / 2] = pack_halves(a, b);
      }
  return 1.0f / (warp_sum(energy) * static_cast<float>(1 << log2_repeats));
}

template <int S>
__device__ __forceinline__ void apply_factors(const std::uint32_t (&factors)[S][8][2],
                                              Coefficients<S>& c) {
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int y = 0; y < 8; ++y)
#pragma unroll
      for (int q = 0; q < 4; q += 2) {
        const float2 f = __half22float2(*reinterpret_cast<const __half2*>(&factors[s][y][q / 2]));
        c[s][y][q] *= f.x;
        c[s][y][q + 1] *= f.y;
      }
}

/// Rounds to the nearest integer; |x| < 2^22.
__device__ __forceinline__ int to_fixed(float x) {
  constexpr float magic = 12582912.0f;  // 1.5 * 2^23: the sum's low bits are the integer
  return __float_as_int(x + magic) - __float_as_int(magic);
}

__device__ __forceinline__ void add(int* sum, int value) { atomicAdd(sum, value); }
__device__ __forceinline__ void add(unsigned long long* sum, int value) {
  atomicAdd(sum, static_cast<unsigned long long>(static_cast<long long>(value)));
}

/// The last step back, and the weighted estimates added to `sums` (offsets as for Samples).
template <int S, class Sum>
__device__ __forceinline__ void aggregate(const Coefficients<S>& c, const LaneGroup<S>& group,
                                          std::uint32_t inverse_operand, const float* window,
                                          float weight, float level, Sum* sums, int pitch) {
  const int column = 2 * (threadIdx.x & 3);
  const float w[2] = {weight * window[column] * value_scale,
                      weight * window[column + 1] * value_scale};
#pragma unroll
  for (int s = 0; s < S; ++s) {
    Sum* first = sums + group.offset[2 * s] + column;
    Sum* second = sums + group.offset[2 * s + 1] + column;
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      float row[4];
      mma_half(row, pack_halves(c[s][y][0], c[s][y][1]), pack_halves(c[s][y][2], c[s][y][3]),
               inverse_operand);
#pragma unroll
      for (int q = 0; q < 4; ++q)
        add((q < 2 ? first : second) + y * pitch + (q & 1),
            to_fixed((row[q] + level) * window[y] * w[q & 1]));
    }
  }
}

/// Shared memory of a block: samples of the noisy plane, of the basic estimate (second phase), sums
/// of values and of weights.
struct SharedTile {
  std::uint32_t *noisy, *basic;
  int *values, *weights;
  __device__ SharedTile(std::uint32_t* memory, const TileShape& tile, bool second_phase)
      : noisy(memory),
        basic(memory + tile.words()),
        values(reinterpret_cast<int*>(memory + (second_phase ? 2 : 1) * tile.words())),
        weights(values + tile.words()) {}
  static std::size_t bytes(const TileShape& tile, bool second_phase) {
    return ((second_phase ? 4 : 3) * static_cast<std::size_t>(tile.words())) * 4;
  }
};

/// A plane's samples around the block, each with its right neighbour, as halves.
__device__ inline void load_tile(const float* plane, int start, int plane_pitch, float level,
                                 const TileShape& tile, std::uint32_t* samples) {
  for (int i = threadIdx.x; i < tile.words(); i += threads) {
    const int y = i / tile.pitch, x = i - y * tile.pitch;
    const float* sample = plane + start + y * plane_pitch + x;
    samples[i] = pack_halves(sample[0] - level, sample[1] - level);
  }
}

template <bool second_phase, int S, class Transform2d, class GroupTransform, Staging staging>
__global__ void __launch_bounds__(threads, S == 1 && !second_phase ? 3 : 2)
    filter_kernel(const KernelArgs a) {
  extern __shared__ std::uint32_t memory[];
  __shared__ float window[patch];
  const FilterArgs& f = a.filter;
  const SharedTile shared(memory, a.tile, second_phase);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, plane = blockIdx.z;
  const int first_x = f.grid.x((f.batch.x0 + blockIdx.x) * block_side);
  const int first_y = f.grid.y((f.batch.y0 + blockIdx.y) * block_side);
  const int start = f.margins.at(first_x - a.radius, first_y - a.radius);
  const float level = f.noisy[plane][f.margins.at(first_x + patch / 2, first_y + patch / 2)];

  if (threadIdx.x < patch) window[threadIdx.x] = f.window[threadIdx.x];
  if constexpr (staging == Staging::shared) {
    load_tile(f.noisy[plane], start, f.margins.pitch, level, a.tile, shared.noisy);
    if constexpr (second_phase)
      load_tile(f.basic[plane], start, f.margins.pitch, level, a.tile, shared.basic);
    for (int i = threadIdx.x; i < 2 * a.tile.words(); i += threads) shared.values[i] = 0;
  }
  __syncthreads();

  const Transform3d<S, Transform2d, GroupTransform> transform(lane);
  const int pitch = staging == Staging::shared ? a.tile.pitch : f.margins.pitch;
  const Samples<staging> noisy{staging == Staging::shared ? static_cast<void*>(shared.noisy)
                                                          : (void*)(f.noisy[plane] + start),
                               pitch, level};
  const Samples<staging> basic{staging == Staging::shared ? static_cast<void*>(shared.basic)
                                                          : (void*)(f.basic[plane] + start),
                               pitch, level};
  for (int r = warp; r < block_references; r += warps) {
    const int i = (f.batch.x0 + blockIdx.x) * block_side + r % block_side;
    const int j = (f.batch.y0 + blockIdx.y) * block_side + r / block_side;
    if (i >= f.grid.count_x || j >= f.grid.count_y) continue;

    const int index = (blockIdx.y * f.batch.blocks_x + blockIdx.x) * block_references + r;
    LaneGroup<S> group;
    group.log2_repeats = (S == 1 ? 4 : 5) - f.groups.log2_count[index];
    const std::uint32_t packed =
        f.groups.displacements[index * f.groups.capacity +
                               ((lane & (16 * S - 1)) >> group.log2_repeats)];
    group.own_offset = (f.grid.y(j) - first_y + a.radius + displacement_y(packed)) * pitch +
                       f.grid.x(i) - first_x + a.radius + displacement_x(packed);
#pragma unroll
    for (int k = 0; k < 2 * S; ++k)
      group.offset[k] = __shfl_sync(~0u, group.own_offset, 2 * S * (lane >> 2) + k);

    Coefficients<S> c;
    float weight;
    const float sigma = f.sigma[plane];
    if constexpr (!second_phase) {
      transform.forward(noisy, group, c);
      const float limit =
          a.strength.value * sigma * root_8 * sqrtf(static_cast<float>(1 << group.log2_repeats));
      weight = threshold<S>(c, limit, a.strength.mean_factor, group.log2_repeats, lane);
    } else {
      transform.forward(basic, group, c);
      std::uint32_t factors[S][8][2];
      const float noise =
          a.strength.value * sigma * sigma * 8.0f * static_cast<float>(1 << group.log2_repeats);
      weight = wiener_factors<S>(c, noise, group.log2_repeats, lane, factors);
      transform.forward(noisy, group, c);
      apply_factors<S>(factors, c);
    }
    transform.inverse_but_rows(c);

    // Values and weights are rounded alike, so that a rounded weight does not shift the estimate.
    const int fixed_weight = static_cast<int>(weight * weight_scale + 0.5f);
    const float used_weight = static_cast<float>(fixed_weight) / weight_scale;
    const float offset_level = level - mid_level;
    if constexpr (staging == Staging::shared) {
      aggregate<S>(c, group, transform.inverse_operand, window, used_weight, offset_level,
                   shared.values, pitch);
      if (lane < 16 * S) atomicAdd(&shared.weights[group.own_offset], fixed_weight);
    } else {
      aggregate<S>(c, group, transform.inverse_operand, window, used_weight, offset_level,
                   f.sums[plane].numerator + start, pitch);
      if (lane < 16 * S)
        atomicAdd(&f.sums[plane].denominator[start + group.own_offset],
                  static_cast<std::uint32_t>(fixed_weight));
    }
  }
  if constexpr (staging == Staging::shared) {
    __syncthreads();
    for (int i = threadIdx.x; i < a.tile.words(); i += threads) {
      const int y = i / a.tile.pitch, x = i - y * a.tile.pitch;
      const int at = start + y * f.margins.pitch + x;
      if (const int value = shared.values[i]; value != 0) add(&f.sums[plane].numerator[at], value);
      if (const int weight = shared.weights[i]; weight != 0)
        atomicAdd(&f.sums[plane].denominator[at], static_cast<std::uint32_t>(weight));
    }
  }
}

template <bool second_phase, int S, class Transform2d, class GroupTransform>
void launch(const FilterArgs& filter, const PhaseParams& phase, const Strength& strength,
            cudaStream_t stream) {
  const KernelArgs args{filter, TileShape(phase.window, phase.step), phase.window / 2, strength};
  const std::size_t bytes = SharedTile::bytes(args.tile, second_phase);
  const dim3 grid(filter.batch.blocks_x, filter.batch.blocks_y, filter.planes);
  if (bytes <= cuda::dynamic_shared_limit()) {
    const auto kernel =
        filter_kernel<second_phase, S, Transform2d, GroupTransform, Staging::shared>;
    cuda::allow_shared_memory(kernel);
    kernel<<<grid, threads, bytes, stream>>>(args);
  } else {
    filter_kernel<second_phase, S, Transform2d, GroupTransform, Staging::direct>
        <<<grid, threads, 0, stream>>>(args);
  }
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
