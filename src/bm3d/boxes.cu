// What needs sums over boxes of 8x8 samples: the norms of the guide's patches, and the final
// division by the weights. Sums are made along one axis after the other, in shared memory.

#include "bm3d/filter.cuh"
#include "bm3d/group.h"
#include "bm3d/kernels.h"
#include "cuda/check.h"

namespace lull::bm3d {
namespace {

/// Places that a thread block works on; boxes reach `reach` samples beyond.
constexpr int box_width = 64, box_height = 32, reach = patch - 1;
constexpr int box_threads = 256;
constexpr int column_rows = box_height * box_width / box_threads;  // of a thread, in one column

constexpr dim3 boxes_for(int width, int height) {
  return dim3((width + box_width - 1) / box_width, (height + box_height - 1) / box_height);
}

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

/// The weight of the groups at a sample is the sum of those of the 64 patches that hold it, times
/// the aggregation window.
__global__ void __launch_bounds__(box_threads)
    normalise_kernel(Sums sums, const float* noisy, Margins margins,
                     std::array<float, patch> window, float* estimate) {
  __shared__ alignas(16) float weights[box_height + reach][box_width + patch];
  __shared__ alignas(16) float rows[box_height + reach][box_width];
  const int x0 = blockIdx.x * box_width, y0 = blockIdx.y * box_height;

  for (int i = threadIdx.x; i < (box_height + reach) * (box_width + patch); i += box_threads) {
    const int row = i / (box_width + patch), column = i % (box_width + patch);
    const int x = x0 + column - patch, y = y0 + row - reach;  // within the margins
    weights[row][column] = x < margins.width && y < margins.height
                               ? static_cast<float>(sums.denominator[margins.at(x, y)])
                               : 0.0f;
  }
  __syncthreads();

  for (int i = threadIdx.x; i < (box_height + reach) * (box_width / 4); i += box_threads) {
    const int row = i / (box_width / 4), quarter = i % (box_width / 4);
    float v[3 * 4], sum[4] = {};  // places 4 quarter - 8 .. + 3
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const float4 four = *reinterpret_cast<const float4*>(&weights[row][4 * (quarter + k)]);
      v[4 * k] = four.x, v[4 * k + 1] = four.y, v[4 * k + 2] = four.z, v[4 * k + 3] = four.w;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int j = 0; j < patch; ++j) sum[k] += window[j] * v[k + patch - j];
    *reinterpret_cast<float4*>(&rows[row][4 * quarter]) =
        make_float4(sum[0], sum[1], sum[2], sum[3]);
  }
  __syncthreads();

  const int column = threadIdx.x % box_width, first = threadIdx.x / box_width * column_rows;
  float v[column_rows + reach];
#pragma unroll
  for (int i = 0; i < column_rows + reach; ++i) v[i] = rows[first + i][column];
  const int x = x0 + column;
#pragma unroll
  for (int i = 0; i < column_rows; ++i) {
    const int y = y0 + first + i;
    if (x >= margins.width || y >= margins.height) continue;
    float weight = 0;
#pragma unroll
    for (int j = 0; j < patch; ++j) weight += window[j] * v[i + reach - j];
    const int at = margins.at(x, y);
    const auto value = static_cast<float>(static_cast<long long>(sums.numerator[at]));
    estimate[at] =
        weight > 0 ? value * (weight_scale / value_scale) / weight + mid_level : noisy[at];
  }
}

}  // namespace

void make_guide(const MixedPlane& plane, const Margins& margins, float scale, float offset,
                std::uint8_t* samples, std::int32_t* half_norms, const ClearedSums& sums,
                cudaStream_t stream) {
  guide_kernel<<<boxes_for(margins.pitch, margins.rows), box_threads, 0, stream>>>(
      plane, margins, scale, offset, reinterpret_cast<std::uint32_t*>(samples), half_norms, sums);
  cuda::check(cudaGetLastError());
}

void normalise(const Sums& sums, const float* noisy, const Margins& margins,
               const std::array<float, patch>& window, float* estimate, cudaStream_t stream) {
  normalise_kernel<<<boxes_for(margins.width, margins.height), box_threads, 0, stream>>>(
      sums, noisy, margins, window, estimate);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
