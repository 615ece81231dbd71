// Computes the guide, and |b|^2 / 2 for each cube b. A thread computes the guide at one voxel, or
// |b|^2 / 2 for four vertically neighbouring cubes.

#include "bm4d/cuda/kernels.h"
#include "bm4d/cuda/voxels.cuh"
#include "cuda/check.h"
#include "match/cuda/kernels.h"

namespace lull::bm4d::cuda {
namespace {

constexpr int rows = 4;  // number of cubes whose norms a thread computes

/// Returns the grid of thread blocks for kernels in which each thread processes several rows
/// (`rows`).
dim3 blocks_of_rows(int width, int height, SliceSpan slices) {
  return blocks_of(width, (height + rows - 1) / rows, slices);
}

__global__ void guide_kernel(Ring<float> samples, SliceSpan slices, Margins margins,
                             GuideQuantiser scale, Ring<std::uint8_t> guide) {
  const int2 p = own_place();
  if (p.x >= margins.width || p.y >= margins.height) return;
  const int at = margins.at(p.x, p.y);
  const SliceSpan own = own_slices(slices);
  for (int z = own.first; z < own.end; ++z) guide.at(z)[at] = to_byte(samples.at(z)[at], scale);
}

/// For each of several cubes at consecutive positions along y, computes the sum of the squared
/// samples in one slice. `at` is the index of the first sample of the first cube.
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
  // The kernel computes the sum of the squared samples of each cube from the sums of its slices.
  // For the cubes that begin in slice z, last[c] contains the sums of slice z + c.
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

}  // namespace

void make_guide(const Ring<float>& samples, SliceSpan slices, const Margins& margins,
                const GuideQuantiser& scale, const Ring<std::uint8_t>& guide, cudaStream_t stream) {
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

}  // namespace lull::bm4d::cuda
