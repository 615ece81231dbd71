// Computes the displacements of candidates in the second frame (match/second_half.h), with one warp
// for each frame pair and bundle (8x4 reference patches).

#include "bm3d/cuda/bayes/kernels.h"
#include "cuda/check.h"
#include "cuda/warp.cuh"
#include "match/second_half.h"

namespace lull::bm3d {
namespace {

constexpr int half_warps = 4;

__global__ void __launch_bounds__(half_warps * 32)
    second_half_kernel(const BayesArgs a, const float* guide) {
  const int bundles = a.grid.columns() * a.grid.rows();
  const int bundle = static_cast<int>(blockIdx.x) * half_warps + threadIdx.x / 32;
  if (bundle >= bundles) return;
  const int lane = threadIdx.x % 32;
  const int i = bundle % a.grid.columns() * motion_columns;
  const int j = bundle / a.grid.columns() * motion_rows;
  const BayesPair &own = a.pair[0], &pair = a.pair[blockIdx.y + 1];
  const auto motion = [&](const Motion* cells) {
    return cells == nullptr ? Motion{} : a.grid.vector(cells, i, j);
  };
  const Motion first = motion(pair.motion[0]);
  const Motion acceleration =
      motion_acceleration(first, motion(pair.motion[1]), motion(own.motion[1]));
  Motion& result = a.second_half[blockIdx.y * bundles + bundle];
  if (acceleration.x == 0 && acceleration.y == 0) {
    if (lane == 0) result = {};
    return;
  }
  const BundleArea area = compared_area(a.grid, a.side, i, j, first, acceleration);
  const float *const same = guide + own.distance[1], *const other = guide + pair.distance[1];
  float straight_error = 0, shifted_error = 0;
  for (int y = area.top; y < area.bottom; ++y)
    for (int x = area.left + lane; x < area.right; x += 32) {
      const float sample = same[a.margins.at(x, y)];
      const int u = x + first.x, v = y + first.y;
      const float there = sample - other[a.margins.at(u, v)];
      const float moved = sample - other[a.margins.at(u + acceleration.x, v + acceleration.y)];
      straight_error += there * there;
      shifted_error += moved * moved;
    }
  straight_error = warp_sum(straight_error);
  shifted_error = warp_sum(shifted_error);
  if (lane == 0)
    result = shifted_error < max_error_ratio * straight_error ? acceleration : Motion{};
}

}  // namespace

void bayes_second_halves(const BayesArgs& args, const float* guide, cudaStream_t stream) {
  const int bundles = args.grid.columns() * args.grid.rows();
  const dim3 grid((bundles + half_warps - 1) / half_warps, args.pairs - 1);
  second_half_kernel<<<grid, half_warps * 32, 0, stream>>>(args, guide);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
