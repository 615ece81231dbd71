// What is done to whole slices, from slice to slice: a thread for each voxel, or, for norms of
// cubes, for four below each other, which share what they look at.

#include "bm4d/cuda/kernels.h"
#include "cuda/check.h"
#include "match/cuda/kernels.h"

namespace lull::bm4d::cuda {
namespace {

constexpr int block_x = 32, block_y = 8;
constexpr int run = 8;   // slices that a thread takes one after the other
constexpr int rows = 4;  // of cubes whose norms a thread makes

/// Blocks along z take a run of slices each.
dim3 blocks_of(int width, int height, SliceSpan slices) {
  return dim3((width + block_x - 1) / block_x, (height + block_y - 1) / block_y,
              (slices.size() + run - 1) / run);
}
/// Where a thread has so many rows.
dim3 blocks_of_rows(int width, int height, SliceSpan slices) {
  return blocks_of(width, (height + rows - 1) / rows, slices);
}
__device__ int2 own_place() {
  return {static_cast<int>(blockIdx.x * block_x + threadIdx.x),
          static_cast<int>(blockIdx.y * block_y + threadIdx.y)};
}
__device__ SliceSpan own_slices(SliceSpan all) {
  const int first = all.first + static_cast<int>(blockIdx.z) * run;
  return {first, min(first + run, all.end)};
}

__device__ std::uint8_t to_byte(float v, const ByteScale& scale) {
  v = (v - scale.low) * scale.scale;
  return static_cast<std::uint8_t>(__float2int_rn(fminf(fmaxf(v, 0.0f), 255.0f)));
}

__global__ void guide_kernel(Ring<float> samples, SliceSpan slices, Margins margins,
                             ByteScale scale, Ring<std::uint8_t> guide) {
  const int2 p = own_place();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const int at = margins.at(p.x, p.y);
  const SliceSpan own = own_slices(slices);
  for (int z = own.first; z < own.end; ++z) guide.at(z)[at] = to_byte(samples.at(z)[at], scale);
}

/// The sums of squares of what cubes have in a slice, those that begin at `at` and below it.
template <int cube>
__device__ __forceinline__ void find_squares(const std::uint8_t* slice, int at, int pitch,
                                             unsigned (&squares)[rows]) {
  unsigned of_row[rows + cube - 1];
#pragma unroll
  for (int y = 0; y < rows + cube - 1; ++y) {
    const int from = at + y * pitch;
    const auto* words = reinterpret_cast<const std::uint32_t*>(slice + (from & ~3));
    std::uint32_t word = __funnelshift_r(__ldg(words), __ldg(words + 1), 8 * (from & 3));
    if (cube == 3) word &= 0xffffffu;
    of_row[y] = __dp4a(word, word, 0u);
  }
#pragma unroll
  for (int y = 0; y < rows; ++y) {
    squares[y] = 0;
#pragma unroll
    for (int b = 0; b < cube; ++b) squares[y] += of_row[y + b];
  }
}

template <int cube>
__global__ void norms_kernel(Guide guide, SliceSpan slices, Margins margins) {
  const int2 p = own_place();
  const int y0 = p.y * rows;
  if (p.x >= margins.width || y0 >= margins.height) return;
  const int at = margins.at(p.x, y0);
  const SliceSpan own = own_slices(slices);
  // Of the slices before z + cube - 1. (Rows below the picture are looked at for nobody.)
  unsigned last[cube - 1][rows];
#pragma unroll
  for (int c = 0; c < cube - 1; ++c)
    find_squares<cube>(guide.samples.at(own.first + c), at, margins.pitch, last[c]);
  for (int z = own.first; z < own.end; ++z) {
    unsigned next[rows];
    find_squares<cube>(guide.samples.at(z + cube - 1), at, margins.pitch, next);
    std::int32_t* const norms = guide.half_norms.at(z) + at;
#pragma unroll
    for (int y = 0; y < rows; ++y) {
      unsigned sum = next[y];
#pragma unroll
      for (int c = 0; c < cube - 1; ++c) {
        sum += last[c][y];
        last[c][y] = c + 1 < cube - 1 ? last[c + 1][y] : next[y];
      }
      const bool is_cube = p.x <= margins.width - cube && y0 + y <= margins.height - cube;
      if (y0 + y < margins.height)
        norms[y * margins.pitch] = is_cube ? static_cast<std::int32_t>(sum >> 1) : no_patch;
    }
  }
}

struct Window {
  float at[max_cube];
};

/// What cubes that begin in this slice, at this voxel or before it, weigh there.
template <int cube>
__device__ float weight_in_slice(const std::uint32_t* weights, int pitch, const Window& window) {
  float sum = 0;
#pragma unroll
  for (int b = 0; b < cube; ++b) {
    float row = 0;
#pragma unroll
    for (int a = 0; a < cube; ++a)
      row += window.at[a] * static_cast<float>(__ldg(weights - b * pitch - a));
    sum += window.at[b] * row;
  }
  return sum;
}

struct FinishArgs {
  VolumeSums sums;
  SliceSpan slices;
  int first;
  Ring<float> noisy;
  Margins margins;
  Window window;
  Ring<float> estimate;
  Ring<std::uint8_t> bytes;
  ByteScale scale;
};

template <int cube>
__global__ void finish_kernel(const __grid_constant__ FinishArgs a) {
  const int2 p = own_place();
  if (p.x >= a.margins.width || p.y >= a.margins.height) return;
  const int at = a.margins.at(p.x, p.y);
  const SliceSpan own = own_slices(a.slices);
  const auto weight_in = [&](int z) {
    return z < a.first
               ? 0.0f
               : weight_in_slice<cube>(a.sums.weights.at(z) + at, a.margins.pitch, a.window);
  };
  float weights[cube];  // in the slices z, z - 1, ..
#pragma unroll
  for (int c = 1; c < cube; ++c) weights[c - 1] = weight_in(own.first - c);
#pragma unroll 2  // loads of the next slice are on their way
  for (int z = own.first; z < own.end; ++z) {
#pragma unroll
    for (int c = cube - 1; c > 0; --c) weights[c] = weights[c - 1];
    weights[0] = weight_in(z);
    float weight = 0;
#pragma unroll
    for (int c = 0; c < cube; ++c) weight += a.window.at[c] * weights[c];
    const auto total =
        static_cast<float>(static_cast<long long>(__ldg(a.sums.numerator.at(z) + at)));
    const float v = weight > 0 ? estimate_centre + total / (estimate_unit / weight_unit) / weight
                               : a.noisy.at(z)[at];
    a.estimate.at(z)[at] = v;
    if (a.bytes.data != nullptr) a.bytes.at(z)[at] = to_byte(v, a.scale);
  }
}

/// A block for each row.
__global__ void continue_kernel(float* plane, Margins margins, int width, int height) {
  const int y = blockIdx.x;
  for (int x = threadIdx.x; x < margins.width; x += blockDim.x)
    if (x >= width || y >= height)
      plane[margins.at(x, y)] = plane[margins.at(mirrored(x, width), mirrored(y, height))];
}

}  // namespace

void make_guide(const Ring<float>& samples, SliceSpan slices, const Margins& margins,
                const ByteScale& scale, const Ring<std::uint8_t>& guide, cudaStream_t stream) {
  guide_kernel<<<blocks_of(margins.width, margins.height, slices), dim3(block_x, block_y), 0,
                 stream>>>(samples, slices, margins, scale, guide);
  lull::cuda::check(cudaGetLastError());
}

void make_half_norms(const Guide& guide, SliceSpan slices, const Margins& margins, int cube,
                     cudaStream_t stream) {
  auto* const kernel = cube == 3 ? norms_kernel<3> : norms_kernel<4>;
  kernel<<<blocks_of_rows(margins.width, margins.height, slices), dim3(block_x, block_y), 0,
           stream>>>(guide, slices, margins);
  lull::cuda::check(cudaGetLastError());
}

void finish_slices(const VolumeSums& sums, SliceSpan slices, int first, const Ring<float>& noisy,
                   const Margins& margins, int cube, const std::array<float, max_cube>& window,
                   const Ring<float>& estimate, const Ring<std::uint8_t>* bytes,
                   const ByteScale& scale, cudaStream_t stream) {
  FinishArgs args{.sums = sums,
                  .slices = slices,
                  .first = first,
                  .noisy = noisy,
                  .margins = margins,
                  .window = {},
                  .estimate = estimate,
                  .bytes = bytes != nullptr ? *bytes : Ring<std::uint8_t>{},
                  .scale = scale};
  for (int i = 0; i < max_cube; ++i) args.window.at[i] = window[i];
  auto* const kernel = cube == 3 ? finish_kernel<3> : finish_kernel<4>;
  kernel<<<blocks_of(margins.width, margins.height, slices), dim3(block_x, block_y), 0, stream>>>(
      args);
  lull::cuda::check(cudaGetLastError());
}

void continue_plane(float* plane, const Margins& margins, int width, int height,
                    cudaStream_t stream) {
  continue_kernel<<<margins.height, 32, 0, stream>>>(plane, margins, width, height);
  lull::cuda::check(cudaGetLastError());
}

}  // namespace lull::bm4d::cuda
