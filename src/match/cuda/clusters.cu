// Makes clusters. A thread block splits one tile level by level. Each warp splits one cluster at a
// time.

// Step 1: the warp finds the split from 8 seed patches. All arithmetic is integer
// (match/clusters.h), except for one truncated square root.

// Step 2: the warp divides the patches of the cluster into two parts. Each lane tests one patch,
// and finds the position of the patch within its part from warp ballots. The warp writes the first
// part to the destination buffer, and the second part to the front of the source buffer. At the
// end, it copies the second part behind the first part.

// Each cluster has its own range of the source buffer and of the destination buffer, so the
// assignment of warps to clusters does not influence the result.

#include "cuda/check.h"
#include "cuda/warp.cuh"
#include "match/cuda/cluster_patch.cuh"

namespace lull {
namespace {

using namespace match_detail;

constexpr int cluster_warps = 8, cluster_threads = 32 * cluster_warps;
constexpr int per_lane = patch_samples / 32;

struct ClusterArgs {
  ClusterFrames frames;
  Margins margins;
  Tiling tiling;
  int leaf;
  std::uint32_t *members, *scratch, *begins;
  std::uint8_t* counts;
  uint2* nodes[2];  // index of the first member, number of members
};

/// The weights of the split of a cluster between two centres (match/clusters.h). The weight of each
/// sample of a patch is the quantised difference of the two centres at this sample. Each warp has
/// its own Weights object in shared memory.
struct alignas(16) Weights {
  std::int8_t of[patch_samples];
};

/// Returns `sum` plus the dot product of unsigned and signed bytes.
__device__ __forceinline__ int dot(std::uint32_t samples, std::uint32_t weights, int sum) {
  int result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(samples), "r"(weights), "r"(sum));
  return result;
}

/// Returns sample `k` of a patch, in row-major order.
__device__ __forceinline__ int sample_of(const ClusterArgs& a, std::uint32_t id, int k) {
  return a.frames.guide[frame_of(id)][place_of(id) + k / patch * a.margins.pitch + k % patch];
}

__device__ int product_of(const ClusterArgs& a, std::uint32_t id, const Weights& weights) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(weights.of);
  const std::uint8_t* const guide = a.frames.guide[frame_of(id)];
  const int place = place_of(id);
  int sum = 0;
#pragma unroll
  for (int row = 0; row < patch; ++row) {
    const uint2 own = words_at(guide, place + row * a.margins.pitch);
    sum = dot(own.y, words[2 * row + 1], dot(own.x, words[2 * row], sum));
  }
  return sum;
}

__device__ __forceinline__ int warp_max(int v) {
#pragma unroll
  for (int j = 16; j > 0; j >>= 1) v = max(v, __shfl_xor_sync(~0u, v, j));
  return v;
}

/// Finds the split of a cluster from its seed patches (step 1 at the top of clusters.cu). Returns
/// false if all seed patches are equal.
__device__ bool find_split_of(const ClusterArgs& a, const std::uint32_t* from, uint2 node,
                              Weights& weights, int& bound) {
  const int lane = threadIdx.x & 31;
  int sample[split_seeds][per_lane];
#pragma unroll
  for (int i = 0; i < split_seeds; ++i) {
    const std::uint32_t id = from[node.x + seed_index(i, static_cast<int>(node.y))];
#pragma unroll
    for (int k = 0; k < per_lane; ++k) sample[i][k] = sample_of(a, id, lane + 32 * k);
  }
  int distance[split_seeds], total = 0;
#pragma unroll
  for (int i = 0; i < split_seeds; ++i) {
    int sum = 0;
#pragma unroll
    for (int k = 0; k < per_lane; ++k)
      sum += (sample[i][k] - sample[0][k]) * (sample[i][k] - sample[0][k]);
    distance[i] = static_cast<int>(__fsqrt_rn(static_cast<float>(warp_sum(sum))));
    total += distance[i];
  }
  if (total == 0) return false;
  // Finds the second centre by the rule of second_centre() (clusters.h), but without an array of
  // distances.
  unsigned in_second = 0;
  int passed = 0;
#pragma unroll
  for (int i = 0; i < split_seeds; ++i) {
    passed += distance[i];
    if (in_second == 0 && 2 * passed > total) in_second = 1u << i;
  }
  unsigned in_first = 1;  // bit masks of the seeds of each centre
  unsigned last = 0;
  int weight[per_lane];
  for (int round = 0;; ++round) {
    const int first_count = __popc(in_first), second_count = __popc(in_second);
    int difference[per_lane], middle[per_lane], greatest = 0;
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      int first = 0, second = 0;
#pragma unroll
      for (int i = 0; i < split_seeds; ++i) {
        if ((in_first >> i & 1) != 0) first += sample[i][k];
        if ((in_second >> i & 1) != 0) second += sample[i][k];
      }
      difference[k] = split_difference(first, first_count, second, second_count);
      middle[k] = split_midpoint(first, first_count, second, second_count);
      greatest = max(greatest, abs(difference[k]));
    }
    const int shift = split_shift(warp_max(greatest));
    int own_middle = 0;
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      weight[k] = split_weight(difference[k], shift);
      own_middle += weight[k] * middle[k];
    }
    bound = split_bound(warp_sum(own_middle), first_count, second_count);
    if (round == max_split_rounds) break;
    unsigned nearer = 0;
#pragma unroll
    for (int i = 0; i < split_seeds; ++i) {
      int product = 0;
#pragma unroll
      for (int k = 0; k < per_lane; ++k) product += sample[i][k] * weight[k];
      if (warp_sum(product) < bound) nearer |= 1u << i;
    }
    constexpr unsigned all = (1u << split_seeds) - 1;
    if (nearer == last || nearer == 0 || nearer == all) break;
    last = in_second = nearer;
    in_first = all & ~nearer;
  }
#pragma unroll
  for (int k = 0; k < per_lane; ++k)
    weights.of[lane + 32 * k] = static_cast<std::int8_t>(weight[k]);
  return true;
}

/// Partitions the patches of a cluster (step 2 at the top of clusters.cu). `from` is the source
/// buffer, and `to` is the destination buffer. Returns the size of the first part.
__device__ int partition_node(const ClusterArgs& a, std::uint32_t* from, std::uint32_t* to,
                              uint2 node, const Weights& weights, int bound) {
  const int lane = threadIdx.x & 31, count = static_cast<int>(node.y);
  const unsigned before = (1u << lane) - 1;
  int first = 0, second = 0;
  for (int i = 0; i < count; i += 32) {
    const bool is_valid = i + lane < count;
    const std::uint32_t id = is_valid ? from[node.x + i + lane] : 0;
    const bool in_second = is_valid && product_of(a, id, weights) < bound;
    const unsigned seconds = __ballot_sync(~0u, in_second);
    const unsigned firsts = __ballot_sync(~0u, is_valid) & ~seconds;
    if (is_valid && !in_second) to[node.x + first + __popc(firsts & before)] = id;
    if (in_second) from[node.x + second + __popc(seconds & before)] = id;
    first += __popc(firsts);
    second += __popc(seconds);
    __syncwarp();
  }
  for (int i = lane; i < second; i += 32) to[node.x + first + i] = from[node.x + i];
  __syncwarp();
  return first;
}

/// Copies a cluster that needs no further split to its final position.
__device__ void keep_leaf(const ClusterArgs& a, const std::uint32_t* from, uint2 leaf) {
  const int lane = threadIdx.x & 31;
  for (int i = lane; i < static_cast<int>(leaf.y); i += 32) {
    const std::uint32_t id = from[leaf.x + i];
    a.members[leaf.x + i] = id;
    a.begins[frame_of(id) * a.margins.size() + place_of(id)] = leaf.x;
  }
  if (lane == 0) a.counts[leaf.x] = static_cast<std::uint8_t>(leaf.y);
}

__global__ void __launch_bounds__(cluster_threads) cluster_kernel(const ClusterArgs a) {
  __shared__ Weights all_weights[cluster_warps];
  __shared__ int waiting[2];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const Tiling::Tile tile = a.tiling.tile(blockIdx.x);
  const int width = tile.right - tile.x, places = tile.places(), count = places * a.frames.count;
  // Offset of the tile's members: the number of patches in all rows of tiles above, and in the
  // tiles on the left.
  const unsigned begin = static_cast<unsigned>(a.frames.count) *
                         (static_cast<unsigned>(tile.y) * a.tiling.width +
                          static_cast<unsigned>(tile.bottom - tile.y) * tile.x);
  for (int i = threadIdx.x; i < count; i += cluster_threads) {
    const int frame = i / places, place = i - frame * places, y = place / width;
    a.members[begin + i] = static_cast<std::uint32_t>(frame) << patch_frame_bit |
                           a.margins.at(tile.x + place - y * width, tile.y + y);
  }
  // Two lists of the clusters to split. Listed clusters have more than `leaf` patches, so a tile of
  // n patches needs at most n / (leaf + 1) elements.
  uint2* const nodes[2] = {a.nodes[0] + begin / (a.leaf + 1), a.nodes[1] + begin / (a.leaf + 1)};
  if (threadIdx.x == 0) {
    waiting[0] = count > a.leaf ? 1 : 0;
    waiting[1] = 0;
    if (count > a.leaf) nodes[0][0] = make_uint2(begin, count);
  }
  __syncthreads();
  if (count <= a.leaf) {
    if (warp == 0) keep_leaf(a, a.members, make_uint2(begin, count));
    return;
  }

  for (int level = 0;; ++level) {
    const int now = level & 1;
    std::uint32_t* const from = now == 0 ? a.members : a.scratch;
    std::uint32_t* const to = now == 0 ? a.scratch : a.members;
    const int nodes_now = waiting[now];
    if (nodes_now == 0) return;
    for (int n = warp; n < nodes_now; n += cluster_warps) {
      const uint2 node = nodes[now][n];
      Weights& weights = all_weights[warp];
      int bound = 0, first = 0;
      // Without a split, all patches belong to the first part.
      if (level >= max_split_levels || !find_split_of(a, from, node, weights, bound)) {
        for (int i = lane; i < static_cast<int>(node.y); i += 32) to[node.x + i] = from[node.x + i];
        __syncwarp();
      } else {
        __syncwarp();
        first = partition_node(a, from, to, node, weights, bound);
      }
      if (first == 0 || first == static_cast<int>(node.y)) first = static_cast<int>(node.y) / 2;
      const uint2 parts[2] = {make_uint2(node.x, first),
                              make_uint2(node.x + first, node.y - first)};
      for (const uint2 part : parts) {
        if (static_cast<int>(part.y) <= a.leaf)
          keep_leaf(a, to, part);
        else if (lane == 0)
          nodes[1 - now][atomicAdd(&waiting[1 - now], 1)] = part;
      }
      __syncwarp();  // waits before the weights are overwritten
    }
    __syncthreads();
    if (threadIdx.x == 0) waiting[now] = 0;
    __syncthreads();
  }
}

}  // namespace

void make_clusters(const ClusterFrames& frames, const Margins& margins, const ClusterParams& params,
                   const ClusterMemory& memory, cudaStream_t stream) {
  const std::size_t members = members_of(margins, frames.count);
  const std::size_t nodes = nodes_of(members, params.leaf);
  for (int k = 0; k < params.tilings; ++k) {
    const Tiling tiling(margins.width, margins.height, params, k);
    const ClusterArgs args{frames,
                           margins,
                           tiling,
                           params.leaf,
                           memory.members + k * members,
                           memory.scratch,
                           memory.begins + k * frames.count * margins.size(),
                           memory.counts + k * members,
                           {memory.nodes, memory.nodes + nodes}};
    cluster_kernel<<<tiling.columns() * tiling.rows(), cluster_threads, 0, stream>>>(args);
    cuda::check(cudaGetLastError());
  }
}

}  // namespace lull
