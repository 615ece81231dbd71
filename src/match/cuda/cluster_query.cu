// Makes groups from clusters. A warp compares one reference patch with 32 candidates at a time.
// Each lane processes one candidate.

// A reference patch belongs to one cluster in each tiling (match/clusters.h). If another patch is
// in several of these clusters, the warp compares the two patches only once. The last candidates
// are the patches to which motion vectors point. The warp subtracts MatchParams::motion_bias from
// their distances.

// A key consists of a distance and a patch identifier. The warp sorts 32 keys at a time.

#include <utility>

#include "cuda/check.h"
#include "match/cuda/cluster_patch.cuh"

namespace lull {
namespace {

using namespace match_detail;

constexpr int query_warps = 8, query_threads = 32 * query_warps;
constexpr int patch_words = patch * patch / 4;
constexpr unsigned long long no_key = ~0ull;

struct QueryArgs {
  ClusterFrames frames;
  Margins margins;
  ReferenceGrid grid;
  MotionGrid bundles;
  Batch batch;
  Groups groups;
  ClusterRules rules;
  int tilings, group;
  std::size_t member_count;
  const std::uint32_t *members, *begins;
  const std::uint8_t* counts;
};

using Key = unsigned long long;  // distance, then patch identifier

__device__ __forceinline__ Key exchange_keys(Key key, int j, bool keeps_less) {
  const Key other = __shfl_xor_sync(~0u, key, j);
  return (key < other) == keeps_less ? key : other;
}

/// Sorts a bitonic sequence, one key in each lane, in ascending order.
__device__ __forceinline__ Key merge_ascending(Key key, int lane) {
#pragma unroll
  for (int j = 16; j > 0; j >>= 1) key = exchange_keys(key, j, (lane & j) == 0);
  return key;
}

__device__ __forceinline__ Key sort_ascending(Key key, int lane) {
#pragma unroll
  for (int k = 2; k <= 32; k <<= 1)
#pragma unroll
    for (int j = k >> 1; j > 0; j >>= 1)
      key = exchange_keys(key, j, ((lane & j) == 0) == ((lane & k & 31) == 0));
  return key;
}

/// Finds the group of one reference patch with one warp.
class Query {
 public:
  __device__ Query(const QueryArgs& args, int i, int j, std::uint32_t* words,
                   std::uint32_t* predicted)
      : a_(args),
        lane_(threadIdx.x & 31),
        x_(args.grid.x(i)),
        y_(args.grid.y(j)),
        own_(args.margins.at(x_, y_)),
        words_(words),
        predicted_(predicted) {
    if (lane_ < patch_words)
      words[lane_] = patch_word(a_.frames.guide[0], own_, a_.margins.pitch, lane_);
    if (lane_ < max_frames) predicted[lane_] = ~0u;
    if (lane_ > 0 && lane_ < a_.frames.count)
      predict(min(i, a_.grid.count_x - 1), min(j, a_.grid.count_y - 1));
    __syncwarp();
  }

  __device__ void run() {
    for (int k = 0; k < a_.tilings; ++k) {
      const std::uint32_t begin = begins_of(k)[own_];
      const int count = a_.counts[k * a_.member_count + begin];
      const std::uint32_t* const leaf = a_.members + k * a_.member_count + begin;
      for (int from = 0; from < count; from += 32) {
        const bool is_valid = from + lane_ < count;
        const std::uint32_t id = is_valid ? leaf[from + lane_] : 0;
        add(is_valid && is_new(id, k), id);
      }
    }
    if (a_.frames.count > 1) {
      const std::uint32_t id = lane_ < max_frames ? predicted_[lane_] : ~0u;
      add(id != ~0u, id);
    }
  }

  /// Stores the group of this reference patch at position `index` of the batch.
  __device__ void store(int index) const {
    const int found = __popc(__ballot_sync(~0u, best_ != no_key && lane_ < a_.group - 1));
    const int log2_count = 31 - __clz(found + 1);
    std::uint32_t* const to = a_.groups.displacements + index * a_.groups.capacity;
    if (lane_ == 0) {
      to[0] = 0;
      a_.groups.log2_count[index] = static_cast<std::uint8_t>(log2_count);
    }
    if (lane_ + 1 >= 1 << log2_count) return;
    const auto id = static_cast<std::uint32_t>(best_);
    const int2 away = displacement(id);
    to[lane_ + 1] = pack_displacement(away.x, away.y, a_.frames.offset[frame_of(id)]);
  }

 private:
  __device__ const std::uint32_t* begins_of(int tiling) const {
    return a_.begins + tiling * a_.frames.count * a_.margins.size();
  }

  __device__ void predict(int i, int j) {
    const Motion* const cells = a_.frames.motion[lane_];
    const Motion motion = cells == nullptr ? Motion{} : a_.bundles.vector(cells, i, j);
    const int u = x_ + motion.x, v = y_ + motion.y;
    if (u >= 0 && v >= 0 && u <= a_.grid.last_x && v <= a_.grid.last_y)
      predicted_[lane_] =
          static_cast<std::uint32_t>(lane_) << patch_frame_bit | a_.margins.at(u, v);
  }

  __device__ bool is_new(std::uint32_t id, int tiling) const {
    const int frame = frame_of(id), place = place_of(id);
    if (id == static_cast<std::uint32_t>(own_) || id == predicted_[frame]) return false;
    for (int k = 0; k < tiling; ++k) {
      const std::uint32_t* const begins = begins_of(k);
      if (begins[frame * a_.margins.size() + place] == begins[own_]) return false;
    }
    return true;
  }

  __device__ int2 displacement(std::uint32_t id) const {
    const int place = place_of(id), row = place / a_.margins.pitch;
    return {place - row * a_.margins.pitch - a_.margins.left - x_, row - a_.margins.top - y_};
  }

  __device__ int distance_to(std::uint32_t id) const {
    const std::uint8_t* const guide = a_.frames.guide[frame_of(id)];
    const int place = place_of(id);
    unsigned sum = 0;
#pragma unroll
    for (int row = 0; row < patch; ++row) {
      const uint2 other = words_at(guide, place + row * a_.margins.pitch);
      const std::uint32_t left = __vabsdiffu4(words_[2 * row], other.x);
      const std::uint32_t right = __vabsdiffu4(words_[2 * row + 1], other.y);
      sum = __dp4a(right, right, __dp4a(left, left, sum));
    }
    auto distance = static_cast<std::int32_t>(sum);
    if (frame_of(id) == 0 && a_.rules.biased) {
      const int2 away = displacement(id);
      distance = a_.rules.with_bias(distance, away.x, away.y);
    }
    if (id == predicted_[frame_of(id)]) distance = a_.rules.with_motion_bias(distance);
    return distance;
  }

  /// Compares one candidate in each lane with the reference patch, and updates the list of the best
  /// candidates.
  __device__ void add(bool is_valid, std::uint32_t id) {
    Key key = no_key;
    if (is_valid) {
      const int distance = distance_to(id);
      if (distance <= a_.rules.limit) key = static_cast<Key>(distance) << 32 | id;
    }
    if (!__any_sync(~0u, key < __shfl_sync(~0u, best_, 31))) return;
    const Key fresh = sort_ascending(key, lane_);
    const Key reversed = __shfl_sync(~0u, fresh, 31 - lane_);
    best_ = merge_ascending(reversed < best_ ? reversed : best_, lane_);
  }

  const QueryArgs& a_;
  int lane_, x_, y_, own_;
  const std::uint32_t* words_;
  std::uint32_t* predicted_;  // predicted patch in each frame; ~0: none
  Key best_ = no_key;         // lane i holds the i-th best key
};

__global__ void __launch_bounds__(query_threads) query_kernel(const QueryArgs a) {
  __shared__ std::uint32_t words[query_warps][patch_words];
  __shared__ std::uint32_t predicted[query_warps][max_frames];
  const int warp = threadIdx.x >> 5;
  const int index = static_cast<int>(blockIdx.x) * query_warps + warp;
  const int reference_tile = index / references_per_tile, place = index % references_per_tile;
  if (reference_tile >= a.batch.tiles_x * a.batch.tiles_y) return;  // all lanes of the warp
  const int i = (a.batch.x0 + reference_tile % a.batch.tiles_x) * reference_tile_side +
                place % reference_tile_side;
  const int j = (a.batch.y0 + reference_tile / a.batch.tiles_x) * reference_tile_side +
                place / reference_tile_side;
  Query query(a, i, j, words[warp], predicted[warp]);
  query.run();
  query.store(index);
}

}  // namespace

void match_in_clusters(const ClusterFrames& frames, const Margins& margins,
                       const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
                       const MatchParams& params, const ClusterMemory& memory, const Groups& groups,
                       cudaStream_t stream) {
  const QueryArgs args{frames,
                       margins,
                       grid,
                       motion,
                       batch,
                       groups,
                       ClusterRules(params),
                       params.clusters->tilings,
                       params.group,
                       members_of(margins, frames.count),
                       memory.members,
                       memory.begins,
                       memory.counts};
  const int references = batch.tiles_x * batch.tiles_y * references_per_tile;
  query_kernel<<<(references + query_warps - 1) / query_warps, query_threads, 0, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
