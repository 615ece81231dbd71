// The pictures that patches are matched in: planes mixed to one, the 8-bit guide, and the norms of
// its patches. These are sums over boxes of 8x8 samples, made along one axis after the other, in
// shared memory.

#include "cuda/boxes.cuh"
#include "cuda/check.h"
#include "match/cuda/kernels.h"

namespace lull {
namespace {

constexpr dim3 mix_block{32, 8};  // of threads
static_assert(reach == patch - 1);

template <class T>
__device__ __forceinline__ T sum_of_8(const T (&v)[column_rows + reach], int from) {
  T sum = v[from];
#pragma unroll
  for (int i = 1; i < patch; ++i) sum += v[from + i];
  return sum;
}

/// A plane in 8 bits, half the squared norm of the patch at each place, and the phase's sums
/// cleared. Covers the margins too.
__global__ void __launch_bounds__(box_threads)
    guide_kernel(const MixedPlane plane, Margins margins, float scale, float offset,
                 std::uint32_t* samples, std::int32_t* half_norms, ClearedSums sums) {
  constexpr int words = box_width / 4 + 2;  // of a row: 7 samples beyond
  __shared__ alignas(16) std::uint32_t tile[box_height + reach][words];
  __shared__ alignas(16) int rows[box_height + reach][box_width];
  const int x0 = blockIdx.x * box_width - margins.left, y0 = blockIdx.y * box_height - margins.top;

  for (int i = threadIdx.x; i < (box_height + reach) * words; i += box_threads) {
    const int row = i / words, word = i - row * words, x = x0 + 4 * word, y = y0 + row;
    std::uint32_t packed = 0;
    if (y >= 0 && y < margins.height && x >= 0) {
      const int at = margins.at(x, y);
      const float4 mixed = plane.quad(at);
      const float v[4] = {mixed.x, mixed.y, mixed.z, mixed.w};
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (x + k < margins.width) {
          const float sample = fminf(fmaxf(rintf((v[k] - offset) * scale), 0.0f), 255.0f);
          packed |= static_cast<std::uint32_t>(sample) << 8 * k;
        }
    }
    tile[row][word] = packed;
    const int place = (y + margins.top) * margins.pitch + x + margins.left;
    if (row < box_height && word < box_width / 4 && y + margins.top < margins.rows &&
        x + margins.left < margins.pitch)
      samples[place / 4] = packed;
  }
  __syncthreads();

  for (int i = threadIdx.x; i < (box_height + reach) * (box_width / 4); i += box_threads) {
    const int row = i / (box_width / 4), word = i % (box_width / 4);
    const std::uint32_t a = tile[row][word], b = tile[row][word + 1], c = tile[row][word + 2];
    int sums_of_squares[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t low = __funnelshift_r(a, b, 8 * k), high = __funnelshift_r(b, c, 8 * k);
      sums_of_squares[k] = static_cast<int>(__dp4a(low, low, __dp4a(high, high, 0u)));
    }
    *reinterpret_cast<int4*>(&rows[row][4 * word]) =
        make_int4(sums_of_squares[0], sums_of_squares[1], sums_of_squares[2], sums_of_squares[3]);
  }
  __syncthreads();

  const int column = threadIdx.x % box_width, first = threadIdx.x / box_width * column_rows;
  int v[column_rows + reach];
#pragma unroll
  for (int i = 0; i < column_rows + reach; ++i) v[i] = rows[first + i][column];
  const int x = x0 + column;
#pragma unroll
  for (int i = 0; i < column_rows; ++i) {
    const int y = y0 + first + i;
    if (y + margins.top >= margins.rows || x + margins.left >= margins.pitch) continue;
    const int at = margins.at(x, y);
    const bool holds =
        x >= 0 && y >= 0 && x <= margins.width - patch && y <= margins.height - patch;
    half_norms[at] = holds ? sum_of_8(v, i) / 2 : no_patch;
#pragma unroll
    for (int k = 0; k < max_planes; ++k)
      if (k < sums.planes) {
        sums.of[k].numerator[at] = 0;
        sums.of[k].denominator[at] = 0;
      }
  }
}

/// The mean of the luma samples that sample (x, y) of the chroma planes covers.
__device__ float average_luma(const ColourGuide& mix, int x, int y) {
  const int right = min((x + 1) << mix.shift_x, mix.luma_margins.width);
  const int bottom = min((y + 1) << mix.shift_y, mix.luma_margins.height);
  float sum = 0;
  int samples = 0;
  for (int v = y << mix.shift_y; v < bottom; ++v)
    for (int u = x << mix.shift_x; u < right; ++u, ++samples)
      sum += mix.luma(mix.luma_margins.at(u, v));
  return sum / static_cast<float>(samples);
}

__global__ void mix_kernel(const ColourGuide mix, Margins margins, float* plane) {
  const int2 p = {static_cast<int>(blockIdx.x * mix_block.x + threadIdx.x),
                  static_cast<int>(blockIdx.y * mix_block.y + threadIdx.y)};
  if (p.x >= margins.width || p.y >= margins.height) return;
  const int at = margins.at(p.x, p.y);
  float v = mix.luma.estimate != nullptr ? average_luma(mix, p.x, p.y) : 0.0f;
  for (int i = 0; i < 2; ++i)
    if (mix.weight[i] != 0) v += mix.weight[i] * mix.chroma[i](at);
  plane[at] = v;
}

/// Covers the margins too.
__global__ void bar_kernel(const std::int32_t* half_norms, const std::uint8_t* barred,
                           Margins margins, std::int32_t* candidate_norms) {
  const int column = static_cast<int>(blockIdx.x * mix_block.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * mix_block.y + threadIdx.y);
  if (column >= margins.pitch || row >= margins.rows) return;
  const int x = column - margins.left, y = row - margins.top, at = margins.at(x, y);
  const bool inside = x >= 0 && y >= 0 && x < margins.width && y < margins.height;
  const bool is_barred = inside && barred[y * margins.width + x] != 0;
  candidate_norms[at] = is_barred ? no_patch : half_norms[at];
}

}  // namespace

void bar_candidates(const std::int32_t* half_norms, const std::uint8_t* barred,
                    const Margins& margins, std::int32_t* candidate_norms, cudaStream_t stream) {
  const dim3 grid((margins.pitch + mix_block.x - 1) / mix_block.x,
                  (margins.rows + mix_block.y - 1) / mix_block.y);
  bar_kernel<<<grid, mix_block, 0, stream>>>(half_norms, barred, margins, candidate_norms);
  cuda::check(cudaGetLastError());
}

void make_guide_and_clear_sums(const MixedPlane& plane, const Margins& margins, float scale,
                               float offset, std::uint8_t* samples, std::int32_t* half_norms,
                               const ClearedSums& sums, cudaStream_t stream) {
  guide_kernel<<<boxes_for(margins.pitch, margins.rows), box_threads, 0, stream>>>(
      plane, margins, scale, offset, reinterpret_cast<std::uint32_t*>(samples), half_norms, sums);
  cuda::check(cudaGetLastError());
}

void mix_guide(const ColourGuide& mix, const Margins& margins, float* plane, cudaStream_t stream) {
  const dim3 grid((margins.width + mix_block.x - 1) / mix_block.x,
                  (margins.height + mix_block.y - 1) / mix_block.y);
  mix_kernel<<<grid, mix_block, 0, stream>>>(mix, margins, plane);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
