// Filtering on the tensor cores, in half precision. Shared memory of a thread block contains the
// search windows of up to 4x4x4 reference cubes, and 32-bit fixed-point sums of estimates.

// A word of the search windows contains a voxel and its right neighbour.

// A warp filters a group of 16 cubes in its registers, by matrix products of 16x16 by 16x8
// elements. Lanes exchange no values, because the result of each product has the register layout
// that the next product requires. In the steps below, g is lane / 4, and t is lane % 4.

// Step 1 of the group filter: Lane 4g + t loads voxels 2t, 2t + 1, 2t + 8 and 2t + 9 of each slice
// of the cubes g and g + 8.

// Step 2 of the group filter: The warp transforms each slice of the cubes, and then transforms the
// cubes along z. Lane 4g + t then contains coefficients g and g + 8 of each slice of the cubes 2t,
// 2t + 1, 2t + 8 and 2t + 9.

// Step 3 of the group filter: The warp computes the Haar transform across the group, and shrinks
// the coefficients. Each output of the Haar transform is a cube. Lane 4g + t then contains
// coefficients g and g + 8 of each slice of the output cubes 2t, 2t + 1, 2t + 8 and 2t + 9.

// Step 4 of the group filter: The warp computes the inverse Haar transform. Lane 4g + t then
// contains coefficients 2t, 2t + 1, 2t + 8 and 2t + 9 of each slice of the cubes g and g + 8.

// Step 5 of the group filter: The warp computes the inverse transforms, first along z and then of
// each slice, and multiplies the voxels by the aggregation window.

// The kernel extends a group of M < 16 cubes to 16 cubes: it repeats each cube 16 / M times. The
// nonzero part of the Haar spectrum is the spectrum of the M cubes, multiplied by sqrt(16 / M).

// Range of the sums in shared memory: At most 2^10 cubes contribute an estimate to a voxel, and
// estimates differ by at most 255 from estimate_centre. With 13 fractional bits, each sum is at
// most 2^10 * 255 * 2^13 < 2^31.

// To limit the range of half-precision samples, the kernel subtracts a reference level: the value
// of one voxel inside all search windows of the thread block.

#include "bm4d/cuda/filter_group.cuh"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm4d::cuda {
namespace {

using namespace filter_detail;

constexpr int threads_of(bool wiener) { return wiener ? 640 : 512; }

/// The filter kernel on the tensor cores. The window and the step are constants if `window` is
/// positive, and arguments if `window` is 0.
template <int cube, bool wiener, int window = 0, int step = 1, int fixed_layers = 1>
__global__ void __launch_bounds__(threads_of(wiener), wiener ? 1 : 2)
    tile_filter_kernel(const __grid_constant__ TileArgs a) {
  extern __shared__ uint4 aligned_memory[];
  const Shape<cube, window, step, fixed_layers> shape(a);
  const TilePlan& tile = shape.tile;
  auto* const noisy = reinterpret_cast<std::uint32_t*>(aligned_memory);
  std::uint32_t* const basic = noisy + tile.words();  // used in the second phase
  int* const sums = reinterpret_cast<int*>(noisy + tile.words() * (wiener ? 2 : 1));
  const int members = a.cubes.params.group;
  constexpr int warps = threads_of(wiener) / 32;
  __shared__ SlicePlaces slices;
  const BlockPlace at(a, shape);
  slices.find(a, shape, at.z - shape.radius);
  __syncthreads();
  load_tile<wiener, warps>(a, shape, at, slices, noisy, basic);
  for (int i = threadIdx.x; i < tile.words(); i += threads_of(wiener)) sums[i] = 0;
  const int lane = threadIdx.x % 32, g = lane >> 2, t = lane & 3;
  const Operands operands(a.filter, lane);
  __syncthreads();

  const int layers = a.first_block < 0 ? 1 : tile.layers;
  for (int k = threadIdx.x / 32; k < block_side * block_side * layers; k += warps) {
    const int i = blockIdx.x * block_side + (k & 3), j = blockIdx.y * block_side + (k >> 2 & 3);
    const int layer = at.first_layer + (k >> 4);
    if (i >= a.cubes.columns || j >= a.cubes.rows || layer < 0 || layer >= a.cubes.layers) continue;
    const std::uint32_t entry =
        lane < members
            ? a.groups[(static_cast<std::size_t>(layer * a.cubes.rows + j) * a.cubes.columns + i) *
                           members +
                       lane]
            : 0u;
    const int count = static_cast<int>(__shfl_sync(~0u, entry, 0) >> 24), repeats = slots / count;
    const std::uint32_t member =
        __shfl_sync(~0u, lane == 0 ? 0u : entry, (lane & (slots - 1)) / repeats);
    // Position of the member in the tile, in voxels.
    const int x = shape.position(i, a.margins.width) - at.x + shape.radius + offset_x(member);
    const int y = shape.position(j, a.margins.height) - at.y + shape.radius + offset_y(member);
    const int z = (k >> 4) * shape.spacing + shape.radius + offset_z(member);
    const int own = z * tile.plane + y * tile.pitch + x;
    int word[2];
#pragma unroll
    for (int h = 0; h < 2; ++h)
      word[h] = __shfl_sync(~0u, own, g + 8 * h) + (t >> 1) * tile.pitch + 2 * (t & 1);

    const float scale = sqrtf(static_cast<float>(repeats));
    Spectrum<cube> group;
    float total;
    if constexpr (wiener) {
      Spectrum<cube> factors;
      factors.load(basic, word, tile, operands);
      total = wiener_factors(factors, a.filter, scale, lane);
      group.load(noisy, word, tile, operands);
      group.each(lane,
                 [&](__half2& c, bool, bool, int n, int b, int r) { c = c * factors.at[n][b][r]; });
    } else {
      group.load(noisy, word, tile, operands);
      total = static_cast<float>(shrink_hard(group, a.filter, scale, lane));
    }
    // The kernel rounds the weight to the fixed-point step of the sums of weights. The weighted
    // sum of estimates and the sum of weights then use exactly the same weight for each group.
    const float units =
        rintf(fminf(weight_unit, weight_unit / (total * static_cast<float>(repeats))));
    if (lane < slots)
      atomicAdd(a.sums.weights.data + slices.sums[z] * a.sums.weights.slice + at.start +
                    y * a.margins.pitch + x,
                static_cast<std::uint32_t>(units));
    add_estimates(group, units / weight_unit, at.level, word, tile, a.filter, operands, lane, sums);
  }
  __syncthreads();
  add_tile<warps>(a, shape, at, slices, sums);
}

using Kernel = void (*)(TileArgs);
template <int cube, bool wiener, int window, int step>
Kernel fixed_kernel(const TilePlan& tile) {
  constexpr PhaseParams p{.cube = cube, .window = window, .step = step};
  constexpr int layers = TilePlan::max_layers(p);
  return tile.layers == layers ? tile_filter_kernel<cube, wiener, window, step, layers> : nullptr;
}
/// Returns the filter kernel compiled for a profile (params.cpp). Returns null for other
/// parameters, or if shared memory is too small.
Kernel fixed_kernel(const PhaseParams& p, bool wiener, const TilePlan& tile) {
  const auto is = [&](int cube, int window, int step, bool second) {
    return p.cube == cube && p.window == window && p.step == step && wiener == second;
  };
  if (is(4, 7, 4, false)) return fixed_kernel<4, false, 7, 4>(tile);
  if (is(4, 7, 3, true)) return fixed_kernel<4, true, 7, 3>(tile);
  if (is(4, 11, 3, false)) return fixed_kernel<4, false, 11, 3>(tile);
  if (is(4, 9, 3, true)) return fixed_kernel<4, true, 9, 3>(tile);
  if (is(4, 11, 2, false)) return fixed_kernel<4, false, 11, 2>(tile);
  if (is(3, 11, 2, true)) return fixed_kernel<3, true, 11, 2>(tile);
  return nullptr;
}
Kernel any_kernel(const PhaseParams& p, bool wiener) {
  if (p.cube == 3) return wiener ? tile_filter_kernel<3, true> : tile_filter_kernel<3, false>;
  return wiener ? tile_filter_kernel<4, true> : tile_filter_kernel<4, false>;
}

}  // namespace

bool detail::filter_groups_in_tiles(const FilterPlan& plan, const Ring<float>& noisy,
                                    const Ring<float>& basic, const Margins& margins,
                                    const ReferenceCubes& cubes, const std::uint32_t* groups,
                                    const VolumeSums& sums, cudaStream_t stream) {
  const PhaseParams& p = cubes.params;
  if (p.group > slots) return false;
  const std::size_t room = lull::cuda::device_limits().dynamic_limit() - sizeof(SlicePlaces);
  int layers = TilePlan::max_layers(p);
  while (layers > 1 && TilePlan::of(p, layers).bytes(plan.wiener) > room) layers /= 2;
  const TilePlan tile = TilePlan::of(p, layers);
  if (tile.bytes(plan.wiener) > room || tile.pitch > 32 || tile.depth > max_slices) return false;

  Kernel kernel = fixed_kernel(p, plan.wiener, tile);
  if (kernel == nullptr) kernel = any_kernel(p, plan.wiener);
  lull::cuda::allow_shared_memory(kernel);
  const auto blocks = [](int count, int side) { return (count + side - 1) / side; };
  // Block k along z begins with layer k * `layers` of the volume. A layer is the set of reference
  // cubes with the same z position.
  const bool at_end = cubes.z % p.step != 0;
  const int first = cubes.z / p.step, first_block = at_end ? -1 : first / layers;
  const int deep = at_end ? 1 : (first + cubes.layers - 1) / layers - first_block + 1;
  kernel<<<dim3(blocks(cubes.columns, block_side), blocks(cubes.rows, block_side), deep),
           threads_of(plan.wiener), tile.bytes(plan.wiener), stream>>>(
      {plan, tile, noisy, basic, sums, margins, cubes, groups, first_block});
  lull::cuda::check(cudaGetLastError());
  return true;
}

}  // namespace lull::bm4d::cuda
