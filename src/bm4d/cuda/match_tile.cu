// Matching of cubes on the tensor cores. A 4x4x4 cube has as many samples as an 8x8 patch, so the
// kernel uses the matrix products of match/cuda/match.cu. Each product compares 16 reference cubes
// with 8 candidates. A thread block processes 4x2x2 reference cubes in three steps.

// Step 1 of matching: For the union of the search windows, the thread block loads the guide, and
// |b|^2 / 2 for each cube b. In shared memory, the word of a position contains the sample at this
// position and the next three samples of the row.

// Step 2 of matching: The warps compute 16-bit scores of the candidates, in one table for each
// reference cube. A lane processes one slice (four rows) of a candidate. For the next candidate
// along y, the lane loads only one new row, as one word.

// Step 3 of matching: each warp selects the best candidates of one reference cube
// (match/cuda/match_select.cuh).

#include <algorithm>
#include <type_traits>

#include "bm4d/cuda/kernels.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "match/cuda/match_select.cuh"

namespace lull::bm4d::cuda {
namespace {

constexpr int block_x = 4, block_y = 2, block_z = 2;  // reference cubes of a block
constexpr int references = block_x * block_y * block_z;
constexpr int threads = 32 * references;
constexpr int no_score = -(1 << 30);

/// Layout of shared memory, which contains the union of the search windows of a thread block.
struct TilePlan {
  int width, height, depth;   // size of the union; width is a multiple of 8
  int pitch, plane;           // number of words in a row and in a slice of samples
  int row_words, table;       // words in a row of scores; distance between tables in words
  std::uint32_t row_inverse;  // 2^20 / row_words, rounded up

  /// Returns the layout of shared memory. The function rounds the size of a table of scores up to a
  /// multiple of `scanned` words, because a warp examines `scanned` words of a table at once.
  static constexpr TilePlan of(const PhaseParams& p, int scanned) {
    const int w = p.window;
    TilePlan plan{};
    plan.width = (p.step * (block_x - 1) + w + 7) / 8 * 8;
    plan.height = p.step * (block_y - 1) + w;
    plan.depth = p.step * (block_z - 1) + w;
    plan.pitch = plan.width + 4;
    plan.plane = plan.pitch * (plan.height + 3);
    // In one access, a warp loads 8 neighbouring words from each of 4 slices. The slice pitch
    // places all these words in different memory banks.
    while (plan.plane % 32 != 8 && plan.plane % 32 != 24) plan.plane += 4;
    plan.row_words = (w + 1) / 2;
    plan.table = (plan.words() + scanned - 1) / scanned * scanned + 32;
    plan.row_inverse = ((1u << 20) + plan.row_words - 1) / plan.row_words;
    return plan;
  }
  /// Returns the size of a table of scores: `row_words` words for each row of each slice of the
  /// search window.
  __host__ __device__ constexpr int words() const {
    const int window = 2 * row_words - 1;
    return window * window * row_words;
  }
  __host__ __device__ constexpr int samples() const { return plane * (depth + 3); }
  __host__ __device__ constexpr int norms() const { return width * height * depth; }
  constexpr std::size_t bytes() const {
    return sizeof(std::uint32_t) *
           (samples() + norms() + references * (table + match_detail::gathered_words));
  }
};

struct TileArgs {
  Guide guide;
  Margins margins;
  ReferenceCubes cubes;
  TilePlan plan;
  std::uint32_t* groups;
};

/// Parameters from which the matching kernel computes addresses. If `window` is positive, the
/// parameters are compile-time constants for a profile. If `window` is 0, they are kernel
/// arguments.
template <int cube, int window, int step, int chunk>
struct Shape {
  static constexpr bool is_fixed = window > 0;
  static constexpr TilePlan fixed_plan =
      TilePlan::of({.cube = cube, .window = window > 0 ? window : 3, .step = step}, 32 * chunk);
  int side, spacing;  // window side; distance between reference cubes
  TilePlan plan;

  __device__ __forceinline__ explicit Shape(const TileArgs& a)
      : side(window > 0 ? window : a.cubes.params.window),
        spacing(window > 0 ? step : a.cubes.params.step),
        plan(window > 0 ? fixed_plan : a.plan) {}
  __device__ __forceinline__ int radius() const { return side / 2; }
  __device__ __forceinline__ int position(int index, int length) const {
    return min(index * spacing, length - cube);
  }
};

struct Tables {
  std::uint32_t* samples;   // [slice][row][pitch]
  std::int32_t* norms;      // [slice][row][width]
  std::uint32_t* scores;    // [reference][table]
  std::uint32_t* gathered;  // [warp][match_detail::gathered_words]

  __device__ Tables(std::uint32_t* memory, const TilePlan& plan)
      : samples(memory),
        norms(reinterpret_cast<std::int32_t*>(samples + plan.samples())),
        scores(reinterpret_cast<std::uint32_t*>(norms + plan.norms())),
        gathered(scores + references * plan.table) {}
};

/// The place of a thread block. (x, y, z) is the position of the first reference cube of the block.
/// `start` is the offset, in a slice, of the first voxel in the union of the search windows.
struct BlockPlace {
  int x, y, z, start;

  template <class Shape>
  __device__ __forceinline__ BlockPlace(const TileArgs& a, const Shape& shape) {
    x = shape.position(blockIdx.x * block_x, a.margins.width);
    y = shape.position(blockIdx.y * block_y, a.margins.height);
    z = a.cubes.z + static_cast<int>(blockIdx.z) * block_z * shape.spacing;
    start = a.margins.at(x - shape.radius(), y - shape.radius());
  }
  /// Returns the displacement of a reference cube from the first reference cube of the block.
  template <class Shape>
  __device__ __forceinline__ int3 offset_of(const TileArgs& a, const Shape& shape,
                                            int reference) const {
    const int i = blockIdx.x * block_x + (reference & 3);
    const int j = blockIdx.y * block_y + (reference >> 2 & 1);
    return make_int3(shape.position(i, a.margins.width) - x,
                     shape.position(j, a.margins.height) - y, (reference >> 3) * shape.spacing);
  }
};

constexpr int max_slices = 32;  // maximum number of slices in a tile

/// Loads the samples, and |b|^2 / 2 for each cube b, in the union of the search windows (step 1 of
/// match_tile.cu). `places` are the positions of the slices in their ring buffers. Slices
/// beyond the volume are copies of the nearest slice, but cubes there get no scores.
template <class Shape>
__device__ __forceinline__ void load_tile(const TileArgs& a, const Shape& shape,
                                          const BlockPlace& at, const int (&places)[max_slices],
                                          const Tables& tables) {
  const TilePlan& plan = shape.plan;
  constexpr int lanes = 8, warps = threads / 32;
  const int skew = at.start & 3, quads = plan.pitch / 4, q = threadIdx.x % lanes;
  const int rows = plan.height + 3;
  if (q < quads)
#pragma unroll 3  // several loads are in flight
    for (int row = threadIdx.x / lanes; row < rows * (plan.depth + 3); row += threads / lanes) {
      const int k = row / rows, y = row - k * rows;
      const auto* words = reinterpret_cast<const std::uint32_t*>(
                              a.guide.samples.data + places[k] * a.guide.samples.slice +
                              (at.start - skew) + y * a.margins.pitch) +
                          q;
      const std::uint32_t low = __ldg(words), high = __ldg(words + 1);
      *reinterpret_cast<uint4*>(tables.samples + k * plan.plane + y * plan.pitch + 4 * q) =
          make_uint4(low, __funnelshift_r(low, high, 8), __funnelshift_r(low, high, 16),
                     __funnelshift_r(low, high, 24));
    }
  const int lane = threadIdx.x % 32;
  if (lane < plan.width)
#pragma unroll 7
    for (int row = threadIdx.x / 32; row < plan.height * plan.depth; row += warps) {
      const int k = row / plan.height, y = row - k * plan.height;
      tables.norms[row * plan.width + lane] =
          __ldg(a.guide.half_norms.data + places[k] * a.guide.half_norms.slice + at.start +
                y * a.margins.pitch + lane);
    }
}

/// Returns the start of the table of scores of a reference cube. Tables begin in different memory
/// banks, because a warp writes scores of 8 cubes at once.
__device__ __forceinline__ int table_of(const TilePlan& plan, int reference, int3 offset) {
  const int start = reference * plan.table;
  return start + ((4 * (reference & 7) + offset.x / 2 + offset.y * plan.row_words - start) & 31);
}

/// Two reference cubes in the registers of a lane: slice t of the cubes g and g + 8, with g = lane
/// / 4 and t = lane % 4.
template <int cube>
struct LaneReferences {
  std::uint32_t words[8];  // two mma operands
  int3 offset[2];
  int base[2];   // score = base + product - half the squared norm
  int table[2];  // word of the union's first position in the table

  template <class Shape>
  __device__ __forceinline__ LaneReferences(const TileArgs& a, const Shape& shape,
                                            const BlockPlace& at, const Tables& tables, int g,
                                            int t) {
    const TilePlan& plan = shape.plan;
    const int radius = shape.radius(), skew = at.start & 3;
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const int3 o = offset[which] = at.offset_of(a, shape, g + 8 * which);
      const std::uint32_t* own = tables.samples + (o.z + radius + t) * plan.plane +
                                 (o.y + radius) * plan.pitch + skew + o.x + radius;
#pragma unroll
      for (int row = 0; row < 4; ++row) {
        // For cubes of 3x3x3 voxels, a mask clears the words and bytes outside the cube.
        const std::uint32_t inside = cube == 4 ? ~0u : row < cube && t < cube ? 0xffffffu : 0u;
        words[(row >> 1) * 4 + (row & 1) * 2 + which] = inside & own[row * plan.pitch];
      }
      base[which] =
          best_score -
          tables.norms[((o.z + radius) * plan.height + o.y + radius) * plan.width + o.x + radius];
      table[which] = table_of(plan, g + 8 * which, o) + t - o.x / 2;
    }
  }
};

/// Fills the tables of scores (step 2 of match_tile.cu).
template <int cube, class Shape>
__device__ __forceinline__ void score(const TileArgs& a, const Shape& shape, const BlockPlace& at,
                                      const Tables& tables) {
  const TilePlan& plan = shape.plan;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane >> 2, t = lane & 3;
  const LaneReferences<cube> own(a, shape, at, tables, g, t);
  const int skew = at.start & 3, radius = shape.radius(), window = shape.side;
  const int columns = plan.width / 8, top = own.offset[0].y;
  for (int unit = warp; unit < columns * plan.depth; unit += threads / 32) {
    const int k = unit / columns, x = (unit - k * columns) * 8;
    const int z = at.z - radius + k;
    const bool available = z >= a.cubes.available.first && z <= a.cubes.available.end - cube;
    // Column of the lane's first candidate in the search windows of the lane's reference cubes.
    const int column = x + 2 * t - own.offset[0].x;
    const bool low = static_cast<unsigned>(column) < static_cast<unsigned>(window);
    const bool high = static_cast<unsigned>(column + 1) < static_cast<unsigned>(window);
    const int low_0 = low && available ? own.base[0] : no_score;
    const int high_0 = high && available ? own.base[0] : no_score;
    const int low_1 = low && available ? own.base[1] : no_score;
    const int high_1 = high && available ? own.base[1] : no_score;
    std::uint32_t* to_0 =
        tables.scores + own.table[0] + (k * window - top) * plan.row_words + x / 2;
    std::uint32_t* to_1 = tables.scores + own.table[1] +
                          ((k - own.offset[1].z) * window - top) * plan.row_words + x / 2;
    const std::uint32_t* from = tables.samples + (k + t) * plan.plane + skew + x + g;
    const auto* norms =
        reinterpret_cast<const int2*>(tables.norms + k * plan.height * plan.width + x + 2 * t);
    std::uint32_t w[4] = {from[0], from[plan.pitch], from[2 * plan.pitch], 0};
    // Computes the scores of one row of candidates. `lower` and `upper` state whether the slice is
    // in the search windows of the reference cubes at the lower and at the upper z position.
    const auto score_row = [&](int row, auto lower, auto upper) {
      w[3] = from[(row + 3) * plan.pitch];
      const int2 norm = norms[row * (plan.width / 2)];
      int c[4] = {};
      if constexpr (lower.value) c[0] = low_0 - norm.x, c[1] = high_0 - norm.y;
      if constexpr (upper.value) c[2] = low_1 - norm.x, c[3] = high_1 - norm.y;
      mma_u8(c, own.words, w[0], w[1]);
      mma_u8(c, own.words + 4, w[2], w[3]);
      // If spacing <= row < window, the row is in the search windows of all reference cubes, so
      // both conditions on `row` are true. For such rows, the compiler removes the conditions if
      // the number of rows is a constant.
      const bool inside = (low || high) && (row >= shape.spacing || row >= top) &&
                          (row < window || row - top < window);
      if constexpr (lower.value)
        if (inside) to_0[row * plan.row_words] = pack_saturated(c[1], c[0]);
      if constexpr (upper.value)
        if (inside) to_1[row * plan.row_words] = pack_saturated(c[3], c[2]);
      w[0] = w[1], w[1] = w[2], w[2] = w[3];
    };
    const auto score_rows = [&](auto lower, auto upper) {
      if constexpr (Shape::is_fixed) {
#pragma unroll
        for (int row = 0; row < Shape::fixed_plan.height; ++row) score_row(row, lower, upper);
      } else {
#pragma unroll 2
        for (int row = 0; row < plan.height; ++row) score_row(row, lower, upper);
      }
    };
    constexpr std::true_type yes;
    constexpr std::false_type no;
    const bool is_lower = k < window;
    const bool is_upper =
        static_cast<unsigned>(k - own.offset[1].z) < static_cast<unsigned>(window);
    if (is_lower && is_upper)
      score_rows(yes, yes);
    else if (is_lower)
      score_rows(yes, no);
    else
      score_rows(no, yes);
  }
}

/// Selects the group of the reference cube of this warp (step 3 of match_tile.cu).
template <int most, int chunk, class Shape>
__device__ __forceinline__ void select_own(const TileArgs& a, const Shape& shape,
                                           const BlockPlace& at, const Tables& tables) {
  const TilePlan& plan = shape.plan;
  const int members = a.cubes.params.group;
  const int lane = threadIdx.x % 32, reference = threadIdx.x / 32;
  const int i = blockIdx.x * block_x + (reference & 3);
  const int j = blockIdx.y * block_y + (reference >> 2 & 1);
  const int layer = blockIdx.z * block_z + (reference >> 3);
  if (i >= a.cubes.columns || j >= a.cubes.rows || layer >= a.cubes.layers) return;
  const int3 offset = at.offset_of(a, shape, reference);
  const int radius = shape.radius(), window = shape.side;
  const match_detail::Scan scan{window * window,
                                offset.x & 1,
                                0,
                                window,
                                plan.row_words,
                                plan.row_inverse,
                                tables.scores + table_of(plan, reference, offset)};
  if (lane == 0) *scan.score(radius * window + radius, radius) = 0;  // the reference cube itself
  constexpr int scanned = 32 * chunk;
  const int words = plan.words(), end = (words + scanned - 1) / scanned * scanned;
  for (int k = words + lane; k < end; k += 32) scan.scores[k] = 0;
  __syncwarp();
  match_detail::BestList best{lane == 0 ? match_detail::best_key : 0u,
                              members == 1 ? match_detail::best_key : 0u};
  match_detail::Gathering gathering(tables.gathered + reference * match_detail::gathered_words);
  match_detail::select<most, chunk>(scan, members, 1, gathering, best);
  const int found = __popc(__ballot_sync(~0u, best.key != 0 && lane < members));
  const int count = 1 << (31 - __clz(found));
  const int place = best_score - static_cast<int>(best.key & 0xffffu);
  std::uint32_t* const group =
      a.groups +
      (static_cast<std::size_t>(layer * a.cubes.rows + j) * a.cubes.columns + i) * members;
  if (lane >= members) return;
  const std::uint32_t member =
      pack_offset(place % window - radius, place / window % window - radius,
                  place / (window * window) - radius);
  group[lane] = lane == 0 ? static_cast<std::uint32_t>(count) << 24 : lane < count ? member : 0u;
}

/// The matching kernel on the tensor cores. The window and the step are constants if `window` is
/// positive, and arguments if `window` is 0.
template <int cube, int most, int chunk, int window = 0, int step = 1>
__global__ void __launch_bounds__(threads, 2) match_kernel(const __grid_constant__ TileArgs a) {
  extern __shared__ uint4 aligned_memory[];
  const Shape<cube, window, step, chunk> shape(a);
  const Tables tables(reinterpret_cast<std::uint32_t*>(aligned_memory), shape.plan);
  const BlockPlace at(a, shape);
  __shared__ int places[max_slices];
  if (threadIdx.x < shape.plan.depth + 3) {
    const int z = at.z - shape.radius() + static_cast<int>(threadIdx.x);
    places[threadIdx.x] =
        min(max(z, a.cubes.available.first), a.cubes.available.end - 1) % a.guide.samples.depth;
  }
  __syncthreads();
  load_tile(a, shape, at, places, tables);
  __syncthreads();
  score<cube>(a, shape, at, tables);
  __syncthreads();
  select_own<most, chunk>(a, shape, at, tables);
}

using Kernel = void (*)(TileArgs);
struct Choice {
  Kernel kernel = nullptr;
  int chunk = 0;  // words of a table that a lane scans at once
};
constexpr int of_wide = 23;  // is sufficient for windows of side 11

/// Returns the matching kernel compiled for a profile (params.cpp). For other parameters, the
/// result is empty.
Choice fixed_kernel(const PhaseParams& p) {
  const auto is = [&](int cube, int window, int step) {
    return p.cube == cube && p.window == window && p.step == step && p.group <= 16;
  };
  if (is(4, 7, 4)) return {match_kernel<4, 16, 7, 7, 4>, 7};
  if (is(4, 7, 3)) return {match_kernel<4, 16, 7, 7, 3>, 7};
  if (is(4, 9, 3)) return {match_kernel<4, 16, 13, 9, 3>, 13};
  if (is(4, 11, 3)) return {match_kernel<4, 16, of_wide, 11, 3>, of_wide};
  if (is(4, 11, 2)) return {match_kernel<4, 16, of_wide, 11, 2>, of_wide};
  if (is(3, 11, 2)) return {match_kernel<3, 16, of_wide, 11, 2>, of_wide};
  return {};
}
Kernel any_kernel(const PhaseParams& p) {
  return p.cube == 3 ? match_kernel<3, 32, of_wide> : match_kernel<4, 32, of_wide>;
}

}  // namespace

bool detail::find_groups_in_tiles(const Guide& guide, const Margins& margins,
                                  const ReferenceCubes& cubes, std::uint32_t* groups,
                                  cudaStream_t stream) {
  const PhaseParams& p = cubes.params;
  if (p.window > 11) return false;
  Choice choice = fixed_kernel(p);
  if (choice.kernel == nullptr) choice = {any_kernel(p), of_wide};
  const TilePlan plan = TilePlan::of(p, 32 * choice.chunk);
  if (plan.bytes() > lull::cuda::device_limits().dynamic_limit()) return false;
  lull::cuda::allow_shared_memory(choice.kernel);
  const auto blocks = [](int count, int side) { return (count + side - 1) / side; };
  choice.kernel<<<dim3(blocks(cubes.columns, block_x), blocks(cubes.rows, block_y),
                       blocks(cubes.layers, block_z)),
                  threads, plan.bytes(), stream>>>({guide, margins, cubes, plan, groups});
  lull::cuda::check(cudaGetLastError());
  return true;
}

void find_groups(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                 std::uint32_t* groups, cudaStream_t stream) {
  if (!detail::find_groups_in_tiles(guide, margins, cubes, groups, stream))
    detail::find_groups_generic(guide, margins, cubes, groups, stream);
}

}  // namespace lull::bm4d::cuda
