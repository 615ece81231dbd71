// The general kernel, which processes a plane tile by tile. It supports blocks, steps and patches
// of any size, separate guides, and several frames with motion (weights.h).

// For each tile, a thread block first computes the weights of the candidates of all patches that
// overlap the tile, and stores them in its workspace. The block then computes each sample of the
// result as the weighted mean of the candidates' samples.

#include <algorithm>

#include "core/round_up.h"
#include "cuda/check.h"
#include "nlm/cuda/kernels.h"
#include "nlm/cuda/lanes.cuh"

namespace lull::nlm::cuda {
namespace {

constexpr int max_threads = 256;
constexpr int max_patches = (32 + max_block - 1) * (32 + max_block - 1);

/// A tile of samples, and the patches that cover the tile.
struct TilePosition {
  __device__ TilePosition(const TilesPlan& plan, int tile)
      : x0(tile % across(plan) * plan.side),
        y0(tile / across(plan) * plan.side),
        width(min(plan.side, plan.space.width - x0)),
        height(min(plan.side, plan.space.height - y0)),
        first_x(x0 - plan.block + plan.step),
        first_y(y0 - plan.block + plan.step),
        columns((x0 + width - 1) / plan.step - first_x / plan.step + 1),
        rows((y0 + height - 1) / plan.step - first_y / plan.step + 1),
        cell(y0 / plan.cell_height * ((plan.space.width + plan.cell_width - 1) / plan.cell_width) +
             x0 / plan.cell_width) {}
  static __host__ __device__ int across(const TilesPlan& plan) {
    return (plan.space.width + plan.side - 1) / plan.side;
  }
  static __host__ __device__ int count(const TilesPlan& plan) {
    return across(plan) * ((plan.space.height + plan.side - 1) / plan.side);
  }
  int x0, y0, width, height;
  int first_x, first_y;  // origin of the first patch, a multiple of the step
  int columns, rows;     // number of patches
  int cell;              // motion block of the tile
};

/// Returns the offset, in samples, by which the motion vector of the motion block `cell` displaces
/// candidates in `source`. Without motion, the offset is 0.
__device__ __forceinline__ std::ptrdiff_t start_of(const TilesPlan& plan, const TileSource& source,
                                                   int cell) {
  if (source.motion == nullptr) return 0;
  const Motion m = source.motion[cell];
  return static_cast<std::ptrdiff_t>(m.y >> plan.shift_y) * plan.space.pitch +
         (m.x >> plan.shift_x);
}

/// Returns the distance q (kernels.h) between the reference patch at the offset `from` and the
/// candidate at the offset from + away.
__device__ float distance(const TilesPlan& plan, const TileSource& wanted, const TileSource& source,
                          std::ptrdiff_t from, std::ptrdiff_t away) {
  const int side = plan.block + 2 * plan.patch_radius;
  float squares = 0, q = 0;
  for (int c = 0; c < plan.guides; ++c) {
    float sum = 0;
    for (int k = 0; k < plan.slices; ++k) {
      const float* a = wanted.guides[c * plan.slices + k] + from;
      const float* b = source.guides[c * plan.slices + k] + from + away;
      for (int y = 0; y < side; ++y, a += plan.space.pitch, b += plan.space.pitch)
        for (int x = 0; x < side; ++x) {
          const float d = a[x] - b[x];
          squares += d * d;
          sum += d;
        }
    }
    q += plan.curve.mean_share * sum * sum;
  }
  return q + squares;
}

__device__ __forceinline__ float weight_of(const TilesPlan& plan, float q) {
  return plan.curve.exponential ? weight<true>(plan.curve.top, q)
                                : weight<false>(plan.curve.top, q);
}

/// Writes the weights of all candidates of a patch, with a stride of `patches` elements.
struct WeightList {
  __device__ void add(float w) {
    *next = w;
    next += patches;
    all += w;
  }
  float* next;
  int patches;
  float all = 0;
};

/// Computes the weights of a row of candidates for the 4x4 patch `own`. Two consecutive candidates
/// share three columns of samples. Column x has the index x modulo 4, so the shared columns stay in
/// place.
template <int guides>
__device__ __forceinline__ void weigh_row(const TilesPlan& plan, const TileSource& source,
                                          const float (&own)[guides][4][4], std::ptrdiff_t first,
                                          WeightList& list) {
  const int pitch = plan.space.pitch, count = 2 * plan.search + 1;
  float columns[guides][4][4];
  const auto load = [&](int column, int to) {
#pragma unroll
    for (int c = 0; c < guides; ++c)
#pragma unroll
      for (int y = 0; y < 4; ++y) columns[c][to][y] = source.guides[c][first + y * pitch + column];
  };
#pragma unroll
  for (int x = 0; x < 3; ++x) load(x, x);
  for (int start = 0; start < count; start += 4)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (start + i >= count) break;
      load(start + i + 3, (i + 3) % 4);
      float squares = 0, q = 0;
#pragma unroll
      for (int c = 0; c < guides; ++c) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 16; ++k) {
          const float d = own[c][k % 4][k / 4] - columns[c][(i + k % 4) % 4][k / 4];
          squares += d * d;
          sum += d;
        }
        q += plan.curve.mean_share * sum * sum;
      }
      list.add(weight_of(plan, q + squares));
    }
}

/// Computes the weights of all candidates of patch `i`, and returns their sum.
template <int block_guides>
__device__ float weigh(const TilesPlan& plan, const TileSources& sources, const TilePosition& place,
                       int i, float* weights) {
  const int pitch = plan.space.pitch;
  const std::ptrdiff_t from =
      plan.space.at(place.first_x + i % place.columns * plan.step - plan.patch_radius,
                    place.first_y + i / place.columns * plan.step - plan.patch_radius);
  float own[block_guides > 0 ? block_guides : 1][4][4];  // [guide][column][row]
  if constexpr (block_guides > 0)
#pragma unroll
    for (int c = 0; c < block_guides; ++c)
#pragma unroll
      for (int k = 0; k < 16; ++k)
        own[c][k % 4][k / 4] = sources.wanted.guides[c][from + k / 4 * pitch + k % 4];
  WeightList list{weights + i, place.columns * place.rows};
  for (int s = 0; s < sources.count; ++s) {
    const TileSource& source = sources.all[s];
    const std::ptrdiff_t start = start_of(plan, source, place.cell);
    for (int dy = -plan.search; dy <= plan.search; ++dy) {
      const std::ptrdiff_t away = start + dy * pitch - plan.search;
      if constexpr (block_guides > 0)
        weigh_row<block_guides>(plan, source, own, from + away, list);
      else
        for (int dx = 0; dx <= 2 * plan.search; ++dx)
          list.add(weight_of(plan, distance(plan, sources.wanted, source, from, away + dx)));
    }
  }
  if (sources.shows_holes) {
    // The reference patch has the distance 0 from itself, even if the patch overlaps a hole.
    const int centre = plan.search * (2 * plan.search + 1) + plan.search;
    float& own_weight = weights[i + centre * place.columns * place.rows];
    const float itself = weight_of(plan, 0);
    list.all += itself - own_weight;
    own_weight = itself;
  }
  return list.all;
}

/// Computes the results of all planes at one sample. For each patch, `shares` contains 1 / (sum of
/// the patch's weights * number of patches that cover a sample). `fixed` is the number of patches
/// that cover the sample along an axis, as a compile-time constant. If `fixed` is 0, the kernel
/// computes this number from `plan`.
template <int fixed>
__device__ void add_up(const TilesPlan& plan, const TileSources& sources, const TilePosition& place,
                       int x, int y, const float* weights, const float* shares,
                       const Results3& results) {
  const int patches = place.columns * place.rows, pitch = plan.space.pitch;
  const int across = fixed > 0 ? fixed : plan.block / plan.step;
  // Column and row of the last of the `across` x `across` patches that cover the sample.
  const int column = (x - place.first_x) / plan.step, row = (y - place.first_y) / plan.step;
  const int last = row * place.columns + column;
  float own_shares[fixed > 0 ? fixed * fixed : 1];
  if constexpr (fixed > 0)
#pragma unroll
    for (int k = 0; k < fixed * fixed; ++k)
      own_shares[k] = shares[last - k / fixed * place.columns - k % fixed];
  const std::ptrdiff_t at = plan.space.at(x, y);
  float own[3] = {0, 0, 0}, sums[3] = {0, 0, 0};
#pragma unroll
  for (int c = 0; c < 3; ++c)
    if (c < plan.planes) own[c] = sources.wanted.samples[c][at];
  const float* of_candidate = weights + last;
  for (int s = 0; s < sources.count; ++s) {
    const TileSource& source = sources.all[s];
    const std::ptrdiff_t start = start_of(plan, source, place.cell);
    for (int dy = -plan.search; dy <= plan.search; ++dy)
      for (int dx = -plan.search; dx <= plan.search; ++dx, of_candidate += patches) {
        float v = 0;
        if constexpr (fixed > 0) {
#pragma unroll
          for (int k = 0; k < fixed * fixed; ++k)
            v += of_candidate[-(k / fixed * place.columns + k % fixed)] * own_shares[k];
        } else {
          for (int b = 0; b < across; ++b)
            for (int a = 0; a < across; ++a) {
              const int before = b * place.columns + a;
              v += of_candidate[-before] * shares[last - before];
            }
        }
        const std::ptrdiff_t away = start + dy * pitch + dx;
#pragma unroll
        for (int c = 0; c < 3; ++c)
          if (c < plan.planes) sums[c] += v * (source.samples[c][at + away] - own[c]);
      }
  }
#pragma unroll
  for (int c = 0; c < 3; ++c)
    if (c < plan.planes) results[c][plan.space.flat_at(x, y)] = (own[c] + sums[c]) / plan.scale[c];
}

/// The general kernel. `block_guides` is the number of guide planes for 4x4 blocks, or 0 for
/// patches of any shape.
template <int block_guides>
__global__ void __launch_bounds__(max_threads)
    tiles_kernel(const __grid_constant__ TilesPlan plan,
                 const __grid_constant__ TileSources sources, float* workspaces,
                 std::size_t workspace, Results3 results) {
  __shared__ float shares[max_patches];
  float* const weights = workspaces + blockIdx.x * workspace;
  const int across = plan.block / plan.step;
  const float estimates = static_cast<float>(across * across);
  for (int tile = static_cast<int>(blockIdx.x); tile < TilePosition::count(plan);
       tile += static_cast<int>(gridDim.x)) {
    const TilePosition place(plan, tile);
    for (int i = static_cast<int>(threadIdx.x); i < place.columns * place.rows;
         i += static_cast<int>(blockDim.x))
      shares[i] = 1 / (estimates * weigh<block_guides>(plan, sources, place, i, weights));
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < place.width * place.height;
         i += static_cast<int>(blockDim.x)) {
      const int x = place.x0 + i % place.width, y = place.y0 + i / place.width;
      if (across == 4)
        add_up<4>(plan, sources, place, x, y, weights, shares, results);
      else if (across == 2)
        add_up<2>(plan, sources, place, x, y, weights, shares, results);
      else
        add_up<0>(plan, sources, place, x, y, weights, shares, results);
    }
    __syncthreads();  // the next tile overwrites the weights
  }
}

}  // namespace

std::size_t TilesPlan::workspace(int sources) const {
  const std::size_t window = 2 * search + 1;
  return window * window * patches_across() * patches_across() * sources;
}

void estimate_tiles(const TilesPlan& plan, const TileSources& sources, float* workspaces,
                    int workspace_count, const Results3& results, cudaStream_t stream) {
  const bool blocks = plan.block == 4 && plan.patch_radius == 0 && plan.slices == 1;
  const auto kernel = blocks && plan.guides == 1   ? tiles_kernel<1>
                      : blocks && plan.guides == 2 ? tiles_kernel<2>
                      : blocks                     ? tiles_kernel<3>
                                                   : tiles_kernel<0>;
  const int tiles = TilePosition::count(plan);
  // Each thread processes at most one patch per round. The code divides the patches evenly among
  // the rounds, so that few threads are idle in the last round.
  const int patches = plan.patches_across() * plan.patches_across();
  const int rounds = (patches + max_threads - 1) / max_threads;
  const int threads = round_up((patches + rounds - 1) / rounds, 32);
  kernel<<<std::min(tiles, workspace_count), threads, 0, stream>>>(
      plan, sources, workspaces, plan.workspace(sources.count), results);
  lull::cuda::check(cudaGetLastError());
}

}  // namespace lull::nlm::cuda
