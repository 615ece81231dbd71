// Weighted means of groups (bm3d/group_means.h), with one warp per group.

#include "bm3d/cuda/filter/filter.cuh"
#include "bm3d/cuda/filter/patch_offsets.cuh"
#include "bm3d/group_means.h"
#include "cuda/warp.cuh"

namespace lull::bm3d {
namespace {

constexpr int means_threads = 128;

struct MeansArgs {
  FilterArgs filter;
  MeansCurve curve;
  std::array<float, max_planes> scale{};
};

/// The samples of a patch in one lane, or sums of such samples.
struct Pair {
  float first = 0, second = 0;
};
template <class Offset>
__device__ __forceinline__ Pair load(const float* plane, Offset at) {
  return {plane[at], plane[at + 1]};
}

__device__ __forceinline__ void add_fixed(unsigned long long* sum, float value) {
  atomicAdd(sum, static_cast<unsigned long long>(static_cast<long long>(rintf(value))));
}

/// Averages groups. `Offset` has 32 bits if FilterArgs::has_narrow_offsets() is true.
template <int planes, class Offset>
__global__ void __launch_bounds__(means_threads) means_kernel(const MeansArgs a) {
  const FilterArgs& f = a.filter;
  const int lane = threadIdx.x & 31;
  const int reference = blockIdx.x * (means_threads / 32) + (threadIdx.x >> 5);
  const int references = f.batch.tiles_x * f.batch.tiles_y * references_per_tile;
  if (reference >= references || !is_on_grid(f, reference)) return;
  const int count = 1 << f.groups.log2_filtered(reference);
  const int row = lane >> 2, column = 2 * (lane & 3);
  const int inside = row * f.margins.pitch + column;
  // Lane m has the offset of member m of the group.
  const Offset own_place = lane < count ? patch_offset<Offset>(f, reference, lane) : 0;

  Pair own[planes], sum[planes];
  const Offset first = __shfl_sync(~0u, own_place, 0) + inside;
#pragma unroll
  for (int p = 0; p < planes; ++p) own[p] = load(f.noisy[p], first);
  // `weights` is the sum of the weights of all members. In lane m, `own_weight` is the weight of
  // member m.
  float weights = 1, own_weight = 1;
  for (int m = 1; m < count; ++m) {
    const Offset at = __shfl_sync(~0u, own_place, m) + inside;
    Pair difference[planes];
    float distance = 0;
#pragma unroll
    for (int p = 0; p < planes; ++p) {
      const Pair other = load(f.noisy[p], at);
      difference[p] = {other.first - own[p].first, other.second - own[p].second};
      distance += a.scale[p] * (difference[p].first * difference[p].first +
                                difference[p].second * difference[p].second);
    }
    const float weight = a.curve(warp_sum(distance));
    weights += weight;
    if (lane == m) own_weight = weight;
#pragma unroll
    for (int p = 0; p < planes; ++p) {
      sum[p].first += weight * difference[p].first;
      sum[p].second += weight * difference[p].second;
    }
  }

  const float window = f.window[row] * value_scale / weight_scale;
  const float windows[2] = {window * f.window[column], window * f.window[column + 1]};
#pragma unroll
  for (int p = 0; p < planes; ++p)  // the value that a weight of 1 in fixed point adds
    sum[p] = {(own[p].first + sum[p].first / weights - mid_level) * windows[0],
              (own[p].second + sum[p].second / weights - mid_level) * windows[1]};
  const int own_fixed = static_cast<int>(rintf(own_weight * weight_scale));
  for (int m = 0; m < count; ++m) {
    const int fixed = __shfl_sync(~0u, own_fixed, m);
    const Offset place = __shfl_sync(~0u, own_place, m);
    if (fixed == 0) continue;
    const float weight = static_cast<float>(fixed);
#pragma unroll
    for (int p = 0; p < planes; ++p) {
      unsigned long long* const at = f.sums[p].numerator + place + inside;
      add_fixed(at, sum[p].first * weight);
      add_fixed(at + 1, sum[p].second * weight);
      if (lane == 0) atomicAdd(&f.sums[p].denominator[place], static_cast<std::uint32_t>(fixed));
    }
  }
}

template <class Offset>
auto kernel_for(int planes) {
  return planes == 1   ? means_kernel<1, Offset>
         : planes == 2 ? means_kernel<2, Offset>
                       : means_kernel<3, Offset>;
}

}  // namespace

void average_groups(const FilterArgs& args, const MeansParams& means, cudaStream_t stream) {
  MeansArgs all{args, MeansCurve(means)};
  for (int p = 0; p < args.planes; ++p)
    all.scale[p] = means_scale(args.sigma[p], static_cast<std::size_t>(args.planes));
  const int references = args.batch.tiles_x * args.batch.tiles_y * references_per_tile;
  const int blocks = references / (means_threads / 32);
  const auto kernel = args.has_narrow_offsets() ? kernel_for<std::int32_t>(args.planes)
                                                : kernel_for<std::int64_t>(args.planes);
  kernel<<<blocks, means_threads, 0, stream>>>(all);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
