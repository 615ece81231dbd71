// Converts stored samples to floats. Each thread converts the samples at one position (x, y) in
// several consecutive slices.

#include "bm4d/cuda/kernels.h"
#include "bm4d/cuda/voxels.cuh"
#include "cuda/check.h"
#include "cuda/samples/float_guard.cuh"
#include "cuda/samples/sample_type.cuh"

namespace lull::bm4d::cuda {
namespace {

struct LoadArgs {
  StoredPlanes stored;
  Ring<CellSum> cells;  // used for float samples
  SliceSpan slices;
  float scale;
  Margins margins;
  Ring<float> noisy;

  __device__ FloatPlane floats(int z) const {
    return {stored.bytes.at(z), stored.pitch, stored.width, stored.height};
  }
};

__global__ void cells_kernel(const __grid_constant__ LoadArgs a) {
  const int z = a.slices.first + static_cast<int>(blockIdx.z);
  sum_cells(a.floats(z), a.stored.guard, a.cells.at(z));
}

template <class Sample>
__global__ void load_kernel(const __grid_constant__ LoadArgs a) {
  const int2 p = own_place();
  if (p.x >= a.stored.width || p.y >= a.stored.height) return;
  const int at = a.margins.at(p.x, p.y);
  const SliceSpan own = own_slices(a.slices);
  for (int z = own.first; z < own.end; ++z) {
    float v;
    if constexpr (std::is_same_v<Sample, float>)
      v = filter_input(a.floats(z), a.stored.guard, a.cells.at(z), p.x, p.y);
    else
      v = static_cast<float>(stored_sample<Sample>(a.stored, z, p));
    a.noisy.at(z)[at] = v * a.scale;
  }
}

/// Fills the padding of slices by mirroring, one row of one slice in each thread block.
__global__ void continue_kernel(Ring<float> noisy, int first, Margins margins, int width,
                                int height) {
  float* const plane = noisy.at(first + static_cast<int>(blockIdx.y));
  const int y = blockIdx.x;
  for (int x = threadIdx.x; x < margins.width; x += blockDim.x)
    if (x >= width || y >= height)
      plane[margins.at(x, y)] = plane[margins.at(mirrored(x, width), mirrored(y, height))];
}

}  // namespace

void load_slices(const StoredPlanes& stored, const Ring<CellSum>& cells, SliceSpan slices,
                 const Margins& margins, const Ring<float>& noisy, cudaStream_t stream) {
  const LoadArgs args{.stored = stored,
                      .cells = cells,
                      .slices = slices,
                      .scale = static_cast<float>(255 / stored.full_scale),
                      .margins = margins,
                      .noisy = noisy};
  constexpr dim3 block(block_x, block_y);
  const dim3 grid = blocks_of(stored.width, stored.height, slices);
  with_sample_type(stored.sample, [&](auto type) {
    using Sample = decltype(type);
    if constexpr (std::is_same_v<Sample, float>) {
      const int columns = guard_cells(stored.width), rows = guard_cells(stored.height);
      const dim3 cell_blocks((columns + cells_of_warp - 1) / cells_of_warp,
                             (rows + block_y - 1) / block_y, slices.size());
      cells_kernel<<<cell_blocks, block, 0, stream>>>(args);
    }
    load_kernel<Sample><<<grid, block, 0, stream>>>(args);
  });
  if (stored.width < margins.width || stored.height < margins.height)
    continue_kernel<<<dim3(margins.height, slices.size()), 32, 0, stream>>>(
        noisy, slices.first, margins, stored.width, stored.height);
  lull::cuda::check(cudaGetLastError());
}

}  // namespace lull::bm4d::cuda
