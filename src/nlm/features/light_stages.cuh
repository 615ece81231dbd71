#pragma once
// Steps 1 to 3 of light.cu: the weights of the pixels of a thread block for a group of
// displacements.

#include <algorithm>
#include <cmath>

#include "nlm/features/kernels.h"

namespace lull::nlm::cuda::light_detail {

constexpr int side = 16, pixels = side * side;  // size of a tile
constexpr dim3 threads{side, side, 2};
constexpr int block = 2 * pixels, halo = widest_patch, padded_side = side + 2 * halo;
static_assert(motion_cell % side == 0, "a tile lies in one cell");

constexpr int group_size = 8;      // number of displacements per group
constexpr int transfer_size = 40;  // matrix elements that are transferred between threads at a time

struct Stages {
  alignas(8) float summands[group_size][padded_side][padded_side];
  alignas(8) float rows_of_three[group_size][padded_side][side],
      rows_of_seven[group_size][padded_side][side];
  // Eighth roots of the weights (base_of() in formulas.h): `x` for the colour filter, and `y` for
  // the guided filter.
  float2 bases[group_size][pixels];
};
union SharedMemory {
  Stages stages;
  float matrix[transfer_size][pixels];
};

/// Barrier for all threads of the block. Threads may call this function from different branches,
/// which is not possible with __syncthreads().
__device__ __forceinline__ void wait_for_block() {
  asm volatile("barrier.sync 1, %0;" ::"n"(block) : "memory");
}

/// A group of up to `group_size` displacements. All candidates of the group are in one frame, the
/// frame with the index `source`. The threads of a block process the group together.
struct Group {
  int source = 0, first = 0;
  __device__ __forceinline__ int count(const LightJob& job) const {
    return min(group_size, job.displacements - first);
  }
  __device__ __forceinline__ void next(const LightJob& job) {
    first += group_size;
    if (first < job.displacements) return;
    first = 0;
    ++source;
  }
};

__device__ __forceinline__ DeviceDisplacement load(const DeviceDisplacement* from) {
  const int4 words = __ldg(reinterpret_cast<const int4*>(from));
  return {words.x, __int_as_float(words.y), __int_as_float(words.z)};
}

/// Returns the offset, in pixels, by which the motion vector displaces the candidates of a thread
/// block in the frame `source`. Without motion, the offset is 0.
__device__ __forceinline__ int offset_in(const DeviceLight& source, const LightJob& job) {
  if (source.motion == nullptr) return 0;
  const int column = static_cast<int>(blockIdx.x) * side / job.cell;
  const int row = static_cast<int>(blockIdx.y) * side / job.cell;
  const Motion m = source.motion[row * job.cell_columns + column];
  return m.y * job.space.pitch + m.x;
}

/// Returns 1 / v. The value v must not be subnormal.
__device__ __forceinline__ float inverse_of(float v) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(v));
  return inverse;
}

/// Values of three channels at one pixel.
struct Triple {
  float at[3];
  __device__ __forceinline__ explicit Triple(const float4* from) {
    const float4 quad = __ldg(from);
    at[0] = quad.x, at[1] = quad.y, at[2] = quad.z;
  }
};
struct LightAndVariance {
  Triple light, variance;
  __device__ __forceinline__ LightAndVariance(const DeviceLight& from, int at)
      : light(from.light + at), variance(from.variance + at) {}
};

/// Computes the terms of the distances for the tile and its halo (step 1 of light.cu).
template <int channels>
__device__ __forceinline__ void find_summands(const LightJob& job, const Group& group, int thread,
                                              Stages& stages) {
  if (thread >= padded_side * padded_side) return;
  const Space& space = job.space;
  const DeviceLight& q = job.source[group.source];
  const int row = thread / padded_side, column = thread - row * padded_side;
  const int sx = min(static_cast<int>(blockIdx.x) * side + column, space.width - 1 + 2 * halo);
  const int sy = min(static_cast<int>(blockIdx.y) * side + row, space.height - 1 + 2 * halo);
  const int at = (sy - halo + space.pad) * space.pitch + sx - halo + space.pad;
  const LightAndVariance own(job.source[0], at);
  const int moved = at + offset_in(q, job);
  const DeviceDisplacement* const displacement = job.displacement + group.first;
  const int count = group.count(job);
#pragma unroll 4  // several loads are in flight
  for (int k = 0; k < count; ++k) {
    const LightAndVariance other(q, moved + __ldg(&displacement[k].offset));
    float sum = 0;
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      const float vp = own.variance.at[c], vq = other.variance.at[c];
      const float difference = own.light.at[c] - other.light.at[c];
      sum += (difference * difference - (vp + fminf(vp, vq))) * inverse_of(vp + vq);
    }
    stages.summands[k][row][column] = sum;
  }
}

/// Sums the terms along rows, over windows of 3 and of 7 pixels (step 2 of light.cu). Each thread
/// computes the sums at two pixels.
__device__ __forceinline__ void sum_rows(int count, int thread, Stages& stages) {
  constexpr int pairs = side / 2;
  const int tx = 2 * (thread % pairs);
  for (int n = thread / pairs; n < count * padded_side; n += block / pairs) {
    const int k = n / padded_side, row = n - k * padded_side;
    const auto* from = reinterpret_cast<const float2*>(stages.summands[k][row] + tx);
    const float2 a = from[0], b = from[1], c = from[2], d = from[3];
    const float2 three = make_float2(b.x + b.y + c.x, b.y + c.x + c.y);
    *reinterpret_cast<float2*>(stages.rows_of_three[k][row] + tx) = three;
    *reinterpret_cast<float2*>(stages.rows_of_seven[k][row] + tx) =
        make_float2(a.x + a.y + three.x + c.y + d.x, a.y + b.x + three.y + d.x + d.y);
  }
}

/// Adds the sums along rows to sums over patches, and computes the eighth roots of the weights from
/// these sums (step 3 of light.cu). Each pixel has two threads, and each thread processes half of
/// the displacements.
template <int channels>
__device__ __forceinline__ void find_bases(int count, int tx, int ty, Stages& stages) {
  constexpr float colour_scale =
      1 / (colour_filter.k * colour_filter.k * colour_filter.patch() * channels);
  constexpr float guided_scale =
      1 / (guided_filter.k * guided_filter.k * guided_filter.patch() * channels);
#pragma unroll 4  // sums depend on each other
  for (int k = static_cast<int>(threadIdx.z); k < count; k += 2) {
    float seven = 0, three = 0;
#pragma unroll
    for (int row = 0; row < 7; ++row) seven += stages.rows_of_seven[k][ty + row][tx];
#pragma unroll
    for (int row = 2; row < 5; ++row) three += stages.rows_of_three[k][ty + row][tx];
    stages.bases[k][ty * side + tx] =
        make_float2(base_of(seven * colour_scale), base_of(three * guided_scale));
  }
}

}  // namespace lull::nlm::cuda::light_detail
