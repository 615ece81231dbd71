// Counts samples and blocks for frame_relation.h on a GPU, with one warp per block.

#include <type_traits>

#include "cuda/check.h"
#include "cuda/samples/sample_type.cuh"
#include "cuda/warp.cuh"
#include "time/kernels.h"

namespace lull {
namespace {

constexpr int threads = 256;

template <class T>
struct StoredPlane {
  const std::byte* data;
  int pitch, width, height;
  StoredPlane(const RawPlanes& raw, const FrameFormat& format, int i)
      : data(static_cast<const std::byte*>(raw.data[i])),
        pitch(raw.pitch[i]),
        width(format.plane_width(i)),
        height(format.plane_height(i)) {}
  __device__ T operator()(int x, int y) const {
    return reinterpret_cast<const T*>(data + static_cast<std::size_t>(y) * pitch)[x];
  }
};

/// Returns whether two samples differ in any bit.
template <class T>
__device__ bool unequal(T a, T b) {
  if constexpr (std::is_same_v<T, float>)
    return __float_as_uint(a) != __float_as_uint(b);
  else
    return a != b;
}

/// Counts of image blocks, as in DifferenceCounts. A warp compares one image block, so its counts
/// are 0 or 1. Each thread block first adds the counts of its warps, and then adds only the sums to
/// device memory, because the GPU serialises atomic additions to one address.
struct BlockCounts {
  int unequal = 0, different = 0, textured = 0, shared = 0;

  __device__ void add_to(DifferenceCounts& counts, int plane) const {
    if (unequal > 0) atomicAdd(&counts.unequal[plane], unequal);
    if (different > 0) atomicAdd(&counts.different[plane], different);
    if (textured > 0) atomicAdd(&counts.textured, textured);
    if (shared > 0) atomicAdd(&counts.shared, shared);
  }
};

/// Compares one block of two frames, with one warp. The top-left sample of the block is at (left,
/// top).
template <class T>
__device__ BlockCounts compare_block(const StoredPlane<T>& frame, const StoredPlane<T>& before,
                                     EightBitScale scale, std::uint32_t limit, bool main, int left,
                                     int top) {
  int squares = 0, sum = 0, sum_of_squares = 0, samples = 0;
  bool differs = false, unlike = false;
  for (int i = threadIdx.x % 32; i < relation_block * relation_block; i += 32) {
    const int x = left + i % relation_block, y = top + i / relation_block;
    if (x >= frame.width || y >= frame.height) continue;
    const T a = frame(x, y), b = before(x, y);
    const int v = to_byte(a, scale), d = v - to_byte(b, scale);
    squares += d * d, sum += v, sum_of_squares += v * v, ++samples;
    differs |= unequal(a, b), unlike |= differ_outside_8bit_range(a, b, scale);
  }
  squares = warp_sum(squares), sum = warp_sum(sum);
  sum_of_squares = warp_sum(sum_of_squares), samples = warp_sum(samples);
  differs = __any_sync(~0u, differs), unlike = __any_sync(~0u, unlike);
  const bool same = !unlike && same_block(squares, samples, limit);
  const bool textured = main && is_textured_block(sum, sum_of_squares, samples, limit);
  return {differs, !same, textured, textured && same};
}

template <class T>
__global__ void __launch_bounds__(threads)
    difference_kernel(StoredPlane<T> frame, StoredPlane<T> before, EightBitScale scale,
                      std::uint32_t limit, int plane, bool main, DifferenceCounts* counts) {
  const int blocks_x = (frame.width + relation_block - 1) / relation_block;
  const int blocks_y = (frame.height + relation_block - 1) / relation_block;
  const int block = (blockIdx.x * threads + threadIdx.x) / 32;
  BlockCounts found;
  if (block < blocks_x * blocks_y)
    found = compare_block(frame, before, scale, limit, main, block % blocks_x * relation_block,
                          block / blocks_x * relation_block);
  const bool is_first_lane = threadIdx.x % 32 == 0;
  found = {__syncthreads_count(is_first_lane && found.unequal),
           __syncthreads_count(is_first_lane && found.different),
           __syncthreads_count(is_first_lane && found.textured),
           __syncthreads_count(is_first_lane && found.shared)};
  if (threadIdx.x == 0) found.add_to(*counts, plane);
}

template <class T>
__global__ void __launch_bounds__(threads)
    bytes_kernel(StoredPlane<T> plane, EightBitScale scale, std::uint8_t* to) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < plane.width * plane.height)
    to[i] = to_byte(plane(i % plane.width, i / plane.width), scale);
}

template <class T>
__global__ void __launch_bounds__(threads) coarse_kernel(StoredPlane<T> plane, EightBitScale scale,
                                                         int width, int height, std::uint8_t* to) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i >= width * height) return;
  const int x = i % width * coarse, y = i / width * coarse;
  int sum = coarse * coarse / 2;
  for (int v = 0; v < coarse; ++v)
    for (int u = 0; u < coarse; ++u) sum += to_byte(plane(x + u, y + v), scale);
  to[i] = static_cast<std::uint8_t>(sum / (coarse * coarse));
}

constexpr int motions = 2 * prediction_reach + 1;
constexpr int prediction_threads = (motions * motions + 31) / 32 * 32;

/// Sums over the samples of a block.
struct BlockSums {
  std::uint32_t sum = 0, squares = 0;
  __device__ void add(std::uint32_t word) {
    sum = __dp4a(word, 0x01010101u, sum);
    squares = __dp4a(word, word, squares);
  }
};

/// Compares a block of the later frame with the blocks around its position in the earlier frame,
/// with one thread per motion vector.
__global__ void __launch_bounds__(prediction_threads)
    prediction_kernel(const std::uint8_t* plane, const std::uint8_t* earlier, int width, int height,
                      std::uint32_t noise, PredictionCounts* counts) {
  constexpr int side = prediction_block, area = side + 2 * prediction_reach;
  // Each row has one additional word, because funnel shifts also read the word after the end of the
  // row.
  __shared__ std::uint32_t own[side][side / 4], around[area][area / 4 + 1];
  __shared__ std::uint32_t least;
  const int x = blockIdx.x * side, y = blockIdx.y * side;
  if (threadIdx.x == 0) least = ~0u;
  for (int i = threadIdx.x; i < side * side; i += prediction_threads)
    reinterpret_cast<std::uint8_t*>(own[i / side])[i % side] =
        plane[(y + i / side) * width + x + i % side];
  for (int i = threadIdx.x; i < area * area; i += prediction_threads) {
    const int p = x + i % area - prediction_reach, q = y + i / area - prediction_reach;
    const bool inside = p >= 0 && q >= 0 && p < width && q < height;
    reinterpret_cast<std::uint8_t*>(around[i / area])[i % area] =
        inside ? earlier[q * width + p] : 0;
  }
  __syncthreads();
  const int dx = threadIdx.x % motions, dy = threadIdx.x / motions;
  const int p = x + dx - prediction_reach, q = y + dy - prediction_reach;
  BlockSums mine;
  for (int v = 0; v < side; ++v)
    for (int k = 0; k < side / 4; ++k) mine.add(own[v][k]);
  if (dy < motions && p >= 0 && q >= 0 && p + side <= width && q + side <= height) {
    BlockSums other;
    std::uint32_t products = 0;
#pragma unroll
    for (int v = 0; v < side; ++v)
#pragma unroll
      for (int k = 0; k < side / 4; ++k) {
        const std::uint32_t* const words = &around[dy + v][dx / 4 + k];
        const std::uint32_t word = __funnelshift_r(words[0], words[1], 8 * (dx % 4));
        other.add(word);
        products = __dp4a(own[v][k], word, products);
      }
    atomicMin(&least, about_mean(static_cast<int>(mine.sum - other.sum),
                                 mine.squares + other.squares - 2 * products));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  PredictionCost cost;
  add_block(cost, about_mean(static_cast<int>(mine.sum), mine.squares), least, noise);
  atomicAdd(&counts->own, static_cast<unsigned long long>(cost.own));
  atomicAdd(&counts->predicted, static_cast<unsigned long long>(cost.predicted));
}

constexpr int blocks_for(int items, int each) { return (items + each - 1) / each; }

}  // namespace

void count_difference(const RawPlanes& frame, const RawPlanes& before, const FrameFormat& format,
                      const std::array<float, max_planes>& sigma, DifferenceCounts* counts,
                      cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(counts, 0, sizeof *counts, stream));
  with_sample_type(format.sample, [&](auto type) {
    using T = decltype(type);
    for (int i = 0; i < format.planes(); ++i) {
      const StoredPlane<T> a(frame, format, i), b(before, format, i);
      const int blocks = blocks_for(a.width, relation_block) * blocks_for(a.height, relation_block);
      difference_kernel<<<blocks_for(blocks, threads / 32), threads, 0, stream>>>(
          a, b, EightBitScale(format), same_block_limit(sigma[i]), i,
          i == main_plane(format.layout == Layout::rgb), counts);
    }
  });
  cuda::check(cudaGetLastError());
}

void make_bytes(const RawPlanes& frame, const FrameFormat& format, const MainBytes& to,
                cudaStream_t stream) {
  const int i = main_plane(format.layout == Layout::rgb);
  with_sample_type(format.sample, [&](auto type) {
    const StoredPlane<decltype(type)> plane(frame, format, i);
    const int width = plane.width / coarse, height = plane.height / coarse;
    if (to.fine != nullptr)
      bytes_kernel<<<blocks_for(plane.width * plane.height, threads), threads, 0, stream>>>(
          plane, EightBitScale(format), to.fine);
    if (to.coarse != nullptr)
      coarse_kernel<<<blocks_for(width * height, threads), threads, 0, stream>>>(
          plane, EightBitScale(format), width, height, to.coarse);
  });
  cuda::check(cudaGetLastError());
}

void count_prediction(const std::uint8_t* plane, const std::uint8_t* earlier, int width, int height,
                      std::uint32_t noise, PredictionCounts* counts, cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(counts, 0, sizeof *counts, stream));
  const dim3 grid(width / prediction_block, height / prediction_block);
  prediction_kernel<<<grid, prediction_threads, 0, stream>>>(plane, earlier, width, height, noise,
                                                             counts);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
