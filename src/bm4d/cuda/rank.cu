// Selects the groups of the second phase. The candidates are members of stored groups
// (propagation.h), so the kernel does not search complete windows. A thread block processes 4x4
// reference cubes, or 4x2 if shared memory is small, at up to four z positions. A warp processes
// one column of cubes along z, in three steps per cube.

// Step 1: Each lane tests four of the members that may become candidates. To remove duplicates, the
// warp has a bitmap of the search window. A lane appends a candidate to the list only if no other
// lane has set the bit of this candidate before.

// Step 2: each lane computes the norm of one candidate, and the inner product of the candidate and
// the reference cube, with dp4a.

// Step 3: the warp sorts the best candidates by distance, then by position in the search window.

#include <algorithm>

#include "bm4d/cuda/kernels.h"
#include "bm4d/cuda/rank_plan.h"
#include "bm4d/propagation.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "cuda/warp.cuh"

namespace lull::bm4d::cuda {
namespace {

constexpr int rank_threads = 32 * rank_side * rank_side;
constexpr int list_size = rank_list_size, rounds = list_size / 32;
constexpr int rank_slices = 32;  // maximum number of slices in a tile
constexpr unsigned all_lanes = 0xffffffffu;

/// The group member that a lane tests. If `member` is 0, the lane tests no member.
struct Entry {
  // The member comes from a stored group of the first phase. The reference cube of this group is
  // (x, y, z) grid steps away from the nearest reference cube of the first phase. Each of x, y and
  // z is -1, 0 or 1.
  std::int8_t x = 0, y = 0, z = 0;
  std::uint8_t member = 0;
};
struct Entries {
  Entry at[list_size] = {};

  constexpr Entries() {
    int count = 0;
    for (int z = -1; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
          for (int member = 1; member <= members_listed[(x != 0) + (y != 0) + (z != 0)]; ++member)
            at[count++] = {static_cast<std::int8_t>(x), static_cast<std::int8_t>(y),
                           static_cast<std::int8_t>(z), static_cast<std::uint8_t>(member)};
  }
};
__device__ const Entries entries;

struct RankArgs {
  Ring<std::uint8_t> guide;
  Margins margins;
  ReferenceCubes cubes;
  KeptLists kept;
  RankPlan plan;
  std::uint32_t* groups;
};

/// Parameters from which rank_kernel() computes addresses. If `window` is positive, the parameters
/// are compile-time constants for a profile. If `window` is 0, they are kernel arguments.
template <int cube, int window, int step>
struct RankShape {
  static constexpr RankTile fixed_tile =
      RankTile::of({.cube = cube, .window = window > 0 ? window : 3, .step = step}, rank_side);
  int side, spacing;  // window side; distance between reference cubes
  int block_rows;     // reference cubes of a thread block along y
  RankTile tile;

  __device__ __forceinline__ explicit RankShape(const RankArgs& a)
      : side(window > 0 ? window : a.cubes.params.window),
        spacing(window > 0 ? step : a.cubes.params.step),
        block_rows(window > 0 ? rank_side : a.plan.rows),
        tile(window > 0 ? fixed_tile : RankTile::of(a.cubes.params, a.plan.rows)) {}
  __device__ __forceinline__ int position(int index, int length) const {
    return min(index * spacing, length - cube);
  }
};

/// Loads the guide in the union of the search windows. `start` is the offset of this union in each
/// slice, and `places` are the positions of the slices in the ring buffer.
__device__ __forceinline__ void load_union(const RankArgs& a, const RankTile& tile, int slices,
                                           int start, const int* places, std::uint32_t* words) {
  constexpr int lanes = 8;
  const int skew = start & 3, q = threadIdx.x % lanes;
  if (q >= tile.pitch / 4) return;
#pragma unroll 3  // several loads are in flight
  for (int row = threadIdx.x / lanes; row < tile.rows * slices; row += rank_threads / lanes) {
    const int k = row / tile.rows, y = row - k * tile.rows;
    const auto* from =
        reinterpret_cast<const std::uint32_t*>(a.guide.data + places[k] * a.guide.slice +
                                               (start - skew) + y * a.margins.pitch) +
        q;
    const std::uint32_t low = __ldg(from), high = __ldg(from + 1);
    *reinterpret_cast<uint4*>(words + k * tile.plane + y * tile.pitch + 4 * q) =
        make_uint4(low, __funnelshift_r(low, high, 8), __funnelshift_r(low, high, 16),
                   __funnelshift_r(low, high, 24));
  }
}

/// Selects the groups of up to four reference cubes that have the same x and y position. All lanes
/// of a warp must call each member function together.
template <int cube, class Shape>
class Ranking {
 public:
  /// `words` points to the first word of the search window of the first cube.
  __device__ __forceinline__ Ranking(const RankArgs& a, const Shape& shape, int i, int j,
                                     const std::uint32_t* words, std::uint32_t* map,
                                     std::uint32_t* list)
      : a_(a),
        shape_(shape),
        lane_(threadIdx.x % 32),
        before_((1u << lane_) - 1),
        radius_(shape.side / 2),
        centre_((radius_ * shape.side + radius_) * shape.side + radius_),
        words_(words),
        map_(map),
        list_(list) {
    const PhaseParams& p = a.kept.params;
    const int width = a.margins.width, height = a.margins.height;
    const int at_x = shape.position(i, width), at_y = shape.position(j, height);
    in_slice_ = DisplacementRange::along(0, radius_, at_x, width - cube - at_x) +
                DisplacementRange::along(1, radius_, at_y, height - cube - at_y);
    const int x = nearest_reference(at_x, width, p.step, p.cube);
    const int y = nearest_reference(at_y, height, p.step, p.cube);
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const Entry e = entries.at[32 * r + lane_];
      const int column = x + e.x, row = y + e.y;
      const bool available = e.member > 0 && e.member < p.group && column >= 0 &&
                             column < a.kept.columns && row >= 0 && row < a.kept.rows;
      from_[r] = available ? (row * a.kept.columns + column) * p.group + e.member : -1;
      layer_[r] = e.z + 1;
    }
  }

  /// Selects the group of cube `k` of the column, whose z position is `z`. `layers` contains the
  /// stored groups of three layers of the first phase, in ascending order of z. The middle layer is
  /// the nearest to `z`.
  __device__ __forceinline__ void rank(int k, int z, const std::uint32_t* const* layers,
                                       std::uint32_t* group) {
    const std::uint32_t* window = words_ + k * shape_.spacing * shape_.tile.plane;
    const int count = collect(z, layers);
    std::uint32_t keys[rounds];
    score(window, count, keys);
    const int keep = a_.cubes.params.group;
    const std::uint32_t best = choose(keys, keep);
    const int found = min(__popc(__ballot_sync(all_lanes, best != 0)), keep - 1) + 1;
    const int members = 1 << (31 - __clz(found));  // a power of two
    const std::uint32_t own = __shfl_up_sync(all_lanes, best, 1);
    const int place = 65535 - static_cast<int>(own & 0xffffu), side = shape_.side;
    const std::uint32_t member = pack_offset(place % side - radius_, place / side % side - radius_,
                                             place / (side * side) - radius_);
    if (lane_ < keep)
      group[lane_] = lane_ == 0        ? static_cast<std::uint32_t>(members) << 24
                     : lane_ < members ? member
                                       : 0u;
    __syncwarp();
  }

 private:
  /// Lists the candidates of a reference cube (step 1 of rank.cu), and returns their number. Each
  /// entry contains the position of a candidate in the search window, and the offset of its first
  /// word. The offset is in words from the start of the search window in shared memory.
  __device__ __forceinline__ int collect(int z, const std::uint32_t* const* layers) {
    const DisplacementRange range =
        in_slice_ + DisplacementRange::along(2, radius_, z - a_.cubes.available.first,
                                             a_.cubes.available.end - cube - z);
    std::uint32_t listed_members[rounds];
#pragma unroll
    for (int r = 0; r < rounds; ++r) {  // 0 is the cube itself
      const std::uint32_t* const layer = layers[layer_[r]];
      listed_members[r] =
          from_[r] >= 0 && layer != nullptr ? __ldg(layer + static_cast<unsigned>(from_[r])) : 0u;
    }
    const std::uint32_t side = shape_.side, pitch = shape_.tile.pitch, plane = shape_.tile.plane;
    for (int i = lane_; i < rank_map_words(shape_.side); i += 32)
      map_[i] = i == centre_ / 32 ? 1u << (centre_ % 32) : 0u;
    __syncwarp();
    int count = 0;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const std::uint32_t to = to_offset_bytes(listed_members[r]);
      const std::uint32_t place = weighed(to, side, side * side);
      bool fresh = range.has(to);
      if (fresh) {
        const std::uint32_t bit = 1u << (place % 32);
        fresh = (atomicOr(map_ + place / 32, bit) & bit) == 0;
      }
      const std::uint32_t word = weighed(to, pitch, 0) + (to >> 16) * plane +
                                 static_cast<std::uint32_t>(min_displacement + radius_) * plane;
      const std::uint32_t ballot = __ballot_sync(all_lanes, fresh);
      std::uint32_t* const slot = list_ + count + __popc(ballot & before_);
      if (fresh) *slot = place << 16 | word;
      count += __popc(ballot);
    }
    __syncwarp();
    return count;
  }

  /// Returns u + v * pitch + w * plane for the position (u, v, w) of a candidate in the search
  /// window.
  __device__ __forceinline__ std::uint32_t weighed(std::uint32_t bytes, std::uint32_t pitch,
                                                   std::uint32_t plane) const {
    const auto first = static_cast<std::uint32_t>(min_displacement + radius_);
    return __dp4a(bytes, 1u | pitch << 8 | plane << 16,
                  first * (1 + pitch + plane));  // modulo 2^32
  }

  /// Computes the key of each listed candidate: score << 16 | (65535 - position), or 0 without a
  /// candidate (step 2 of rank.cu).
  __device__ __forceinline__ void score(const std::uint32_t* window, int count,
                                        std::uint32_t (&keys)[rounds]) const {
    constexpr std::uint32_t inside = cube == 4 ? ~0u : 0xffffffu;
    const int pitch = shape_.tile.pitch, plane = shape_.tile.plane;
    const std::uint32_t* const reference = window + radius_ * (plane + pitch + 1);
    std::uint32_t own[cube * cube], own_norm = 0;
#pragma unroll
    for (int i = 0; i < cube * cube; ++i) {
      own[i] = inside & reference[i / cube * plane + i % cube * pitch];
      own_norm = __dp4a(own[i], own[i], own_norm);
    }
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      keys[r] = 0;
      if (32 * r >= count) continue;
      const bool active = 32 * r + lane_ < count;
      const std::uint32_t candidate = active ? list_[32 * r + lane_] : 0u;
      const std::uint32_t* const from = window + (candidate & 0xffffu);
      std::uint32_t norm = 0, product = 0;
#pragma unroll
      for (int i = 0; i < cube * cube; ++i) {
        const std::uint32_t word = inside & from[i / cube * plane + i % cube * pitch];
        norm = __dp4a(word, word, norm);
        product = __dp4a(word, own[i], product);
      }
      const int distance = max(0, static_cast<int>((norm >> 1) + (own_norm >> 1) - product));
      if (active && distance < best_score)
        keys[r] =
            static_cast<std::uint32_t>(best_score - distance) << 16 | (65535u - (candidate >> 16));
    }
    __syncwarp();
  }

  /// Returns the best keys in descending order, one in each lane (step 3 of rank.cu). A lane
  /// without a key returns 0. Only the first keep - 1 lanes are certain to have the best keys,
  /// because a group contains the reference cube and at most keep - 1 candidates.
  __device__ __forceinline__ std::uint32_t choose(const std::uint32_t (&keys)[rounds],
                                                  int keep) const {
    std::uint32_t best = keys[0];
#pragma unroll
    for (int r = 1; r < rounds; ++r) best = max(best, keys[r]);
    const std::uint32_t bound =
        max(1u, __shfl_sync(all_lanes, sort_descending(best, lane_), max(keep - 2, 0)));
    int count = 0;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const bool hit = keys[r] >= bound;
      const std::uint32_t ballot = __ballot_sync(all_lanes, hit);
      std::uint32_t* const slot = list_ + count + __popc(ballot & before_);
      if (hit) *slot = keys[r];
      count += __popc(ballot);
    }
    __syncwarp();
    best = sort_descending(lane_ < count ? list_[lane_] : 0u, lane_);
    for (int from = 32; from < count; from += 32) {
      const std::uint32_t more =
          sort_descending(from + lane_ < count ? list_[from + lane_] : 0u, lane_);
      best = merge_descending(max(best, __shfl_sync(all_lanes, more, 31 - lane_)), lane_);
    }
    return best;
  }

  const RankArgs& a_;
  const Shape& shape_;
  int lane_;
  std::uint32_t before_;  // mask of the lanes with lower indices
  int radius_, centre_;
  DisplacementRange in_slice_;
  const std::uint32_t* words_;
  std::uint32_t *map_, *list_;
  int from_[rounds];   // index among the groups of a layer; -1: no group
  int layer_[rounds];  // 0: layer before the nearest layer, 1: nearest, 2: after the nearest
};

/// Selects the members of each group of the second phase. The candidates are the members of nearby
/// groups of the first phase. If `window` is positive, the window, the step and the rows of a
/// thread block are compile-time constants. If `window` is 0, they are members of the kernel
/// argument `a`.
template <int cube, int window = 0, int step = 1>
__global__ void __launch_bounds__(rank_threads, 2) rank_kernel(const __grid_constant__ RankArgs a) {
  extern __shared__ uint4 aligned_memory[];
  __shared__ int places[rank_slices];
  __shared__ const std::uint32_t* layers[rank_side][3];
  const RankShape<cube, window, step> shape(a);
  const int slices = shape.spacing * (a.plan.layers - 1) + shape.side + cube - 1;
  const int first = static_cast<int>(blockIdx.z) * a.plan.layers, radius = shape.side / 2;
  const int z = a.cubes.z + first * shape.spacing;
  if (threadIdx.x < slices)
    places[threadIdx.x] =
        min(max(z - radius + static_cast<int>(threadIdx.x), a.cubes.available.first),
            a.cubes.available.end - 1) %
        a.guide.depth;
  const int count = min(a.plan.layers, a.cubes.layers - first);
  if (threadIdx.x < 3 * count) {
    const int place = a.kept.around[first + threadIdx.x / 3][threadIdx.x % 3];
    const std::size_t layer =
        static_cast<std::size_t>(a.kept.columns) * a.kept.rows * a.kept.params.group;
    layers[threadIdx.x / 3][threadIdx.x % 3] = place >= 0 ? a.kept.groups + place * layer : nullptr;
  }
  __syncthreads();
  const int tile_x = shape.position(blockIdx.x * rank_side, a.margins.width);
  const int tile_y = shape.position(blockIdx.y * shape.block_rows, a.margins.height);
  const int start = a.margins.at(tile_x - radius, tile_y - radius);
  auto* const words = reinterpret_cast<std::uint32_t*>(aligned_memory);
  load_union(a, shape.tile, slices, start, places, words);
  __syncthreads();

  const int warp = threadIdx.x / 32, warps = rank_side * shape.block_rows;
  const int i = blockIdx.x * rank_side + warp % rank_side;
  const int j = blockIdx.y * shape.block_rows + warp / rank_side;
  if (warp >= warps || i >= a.cubes.columns || j >= a.cubes.rows) return;
  std::uint32_t* const lists = words + shape.tile.plane * slices;
  Ranking<cube, RankShape<cube, window, step>> ranking(
      a, shape, i, j,
      words + (shape.position(j, a.margins.height) - tile_y) * shape.tile.pitch + (start & 3) +
          shape.position(i, a.margins.width) - tile_x,
      lists + warps * list_size + warp * rank_map_words(shape.side), lists + warp * list_size);
  for (int k = 0; k < count; ++k)
    ranking.rank(
        k, z + k * shape.spacing, layers[k],
        a.groups +
            (static_cast<std::size_t>((first + k) * a.cubes.rows + j) * a.cubes.columns + i) *
                a.cubes.params.group);
}

using RankKernel = void (*)(RankArgs);
/// Returns the kernel compiled for a profile (params.cpp). For other parameters, or thread blocks
/// with fewer rows, returns the generic kernel.
RankKernel kernel_for(const PhaseParams& p, const RankPlan& plan) {
  const auto is = [&](int cube, int window, int step) {
    return p.cube == cube && p.window == window && p.step == step && plan.rows == rank_side;
  };
  if (is(4, 7, 3)) return rank_kernel<4, 7, 3>;
  if (is(4, 9, 3)) return rank_kernel<4, 9, 3>;
  if (is(3, 11, 2)) return rank_kernel<3, 11, 2>;
  return p.cube == 3 ? rank_kernel<3> : rank_kernel<4>;
}

}  // namespace

void detail::rank_groups(const RankPlan& plan, const Ring<std::uint8_t>& guide,
                         const Margins& margins, const ReferenceCubes& cubes, const KeptLists& kept,
                         std::uint32_t* groups, cudaStream_t stream) {
  const RankKernel kernel = kernel_for(cubes.params, plan);
  lull::cuda::allow_shared_memory(kernel);
  const auto blocks = [](int count, int side) { return (count + side - 1) / side; };
  kernel<<<dim3(blocks(cubes.columns, rank_side), blocks(cubes.rows, plan.rows),
                blocks(cubes.layers, plan.layers)),
           rank_threads, plan.bytes(cubes.params), stream>>>(
      {guide, margins, cubes, kept, plan, groups});
  lull::cuda::check(cudaGetLastError());
}

void rank_groups(const Ring<std::uint8_t>& guide, const Margins& margins,
                 const ReferenceCubes& cubes, const KeptLists& kept, std::uint32_t* groups,
                 cudaStream_t stream) {
  const std::size_t limit = lull::cuda::device_limits().dynamic_limit();
  detail::rank_groups(plan_rank(cubes.params, cubes.layers, limit), guide, margins, cubes, kept,
                      groups, stream);
}

}  // namespace lull::bm4d::cuda
