#pragma once
// Step 3 of match.cu: the best of one reference patch's scores, by one warp.

#include "bm3d/group.h"
#include "bm3d/kernels.h"
#include "bm3d/warp.cuh"

namespace lull::bm3d::match_detail {

constexpr int warps = block_references;  // one reference patch for each warp in step 3
constexpr int threads = warps * 32;
constexpr int pending_slots = 96;  // 31 left over and two ballots
constexpr std::uint32_t best_key = 0xffffffffu;

struct MatchArgs {
  Guide guide;  // of the candidates
  Guide own;    // of the reference patches
  Margins margins;
  ReferenceGrid grid;
  Batch batch;
  Groups groups;
  MatchPlan plan;
  int window, radius;
  int keep;       // N
  int min_score;  // score at distance tau
  // A search over frames:
  std::uint32_t* keys = nullptr;   // [reference][match_keys], what is best so far; null: one frame
  bool first = true;               // of the frames: the reference patches' own
  int first_place = 0;             // of the frame's candidates, in the order of equal distances
  int bonus = 0;                   // of the score where motion predicts the reference patch
  const Motion* motion = nullptr;  // for each block of reference patches; null: none
  int motion_blocks = 0;           // in a row

  /// Of the reference patches around (i, j), a block of the batch.
  __device__ Motion motion_at(int i, int j) const {
    if (motion == nullptr) return {};
    return motion[j / motion_rows * motion_blocks + i / motion_columns];
  }
};

/// What of a band lies in the window of one reference patch.
struct Scan {
  int from, to;           // rows of the union
  int odd;                // the table begins one column before the window
  std::uint32_t* scores;  // from row `from` on
};

/// Zeroes what of a table is no candidate: see the head of this file.
template <int chunk>
__device__ inline void clear_gaps(const MatchArgs& a, const Scan& scan, int dy, int lane) {
  auto* halves = reinterpret_cast<std::uint16_t*>(scan.scores);
  const int rows = scan.to - scan.from, words = rows * a.plan.score_row;
  for (int row = lane; row < rows; row += 32)
    halves[2 * row * a.plan.score_row + (scan.odd != 0 ? 0 : a.window)] = 0;
  const int own_row = dy + a.radius - scan.from;
  if (lane == 0 && own_row >= 0 && own_row < rows) {
    std::uint16_t& score = halves[2 * own_row * a.plan.score_row + scan.odd + a.radius];
    score = a.first || score == 0 ? 0 : static_cast<std::uint16_t>(min(score + a.bonus, 65535));
  }
  const int scanned = (words + 32 * chunk - 1) / (32 * chunk) * (32 * chunk);
#pragma unroll 1
  for (int i = words + lane; i < scanned; i += 32) scan.scores[i] = 0;
  __syncwarp();
}

/// A score that at least `keep` - 1 of the candidates in the lanes' maxima (one in each half word)
/// reach; the reference patch itself is not among them.
template <int N>
__device__ inline std::uint32_t bound_of(std::uint32_t maxima, int keep, int lane) {
  if constexpr (N == 16) {
    const std::uint32_t best = max(maxima & 0xffffu, maxima >> 16);
    return __shfl_sync(~0u, sort_descending(best, lane), max(keep - 2, 0));
  } else {
    const std::uint32_t sorted = sort_descending<HalfWords>(maxima, lane);
    return warp_min(max(sorted & 0xffffu, __shfl_sync(~0u, sorted, 31 - lane) >> 16));
  }
}

/// The best keys so far of one reference patch: lane i holds the i-th.
struct BestList {
  std::uint32_t key;    // score << 16 | (65535 - place); 0: none
  std::uint32_t worst;  // of the N best; 0 while there are fewer
  bool is_empty = true;

  __device__ void merge(const std::uint32_t* pending, int count, int keep, int lane) {
    const std::uint32_t fresh = sort_descending(lane < count ? pending[lane] : 0u, lane);
    if (is_empty) {  // but for the reference patch
      const std::uint32_t before = __shfl_up_sync(~0u, fresh, 1);
      key = lane == 0 ? best_key : before;
      is_empty = false;
    } else {
      key = merge_descending(max(key, __shfl_sync(~0u, fresh, 31 - lane)), lane);
    }
    worst = __shfl_sync(~0u, key, keep - 1);
  }
};

/// Step 3, for one reference patch at (dx, dy) from the block's first.
template <int N, int chunk>
__device__ inline void select_band(const MatchArgs& a, const Scan& scan, int dy,
                                   std::uint32_t* pending, BestList& best) {
  const int lane = threadIdx.x & 31;
  const std::uint32_t* scores = scan.scores;
  const int row_words = a.plan.score_row, words = (scan.to - scan.from) * row_words;
  const int first_place = a.first_place + (scan.from - dy) * a.window - scan.odd;

  int count = 0;
  for (int base = lane; base - lane < words; base += 32 * chunk) {
    std::uint32_t v[chunk], maxima = 0;
#pragma unroll
    for (int k = 0; k < chunk; ++k) {
      v[k] = scores[base + 32 * k];
      maxima = __vmaxu2(maxima, v[k]);
    }
    const std::uint32_t bound = max(max(bound_of<N>(maxima, a.keep, lane), best.worst >> 16),
                                    static_cast<std::uint32_t>(a.min_score));
    const std::uint32_t below = (bound - 1) * 0x10001u;
    std::uint32_t hits = 0;  // words of this lane that hold a score at or over the bound
#pragma unroll
    for (int k = 0; k < chunk; ++k)
      if (__vmaxu2(v[k], below) != below) hits |= 1u << k;

    while (__any_sync(~0u, hits != 0)) {
      const int i = base + 32 * ((__ffs(hits) - 1) & 31);
      const std::uint32_t word = hits != 0 ? scores[i] : 0u;
      hits &= hits - 1;
      const int y = static_cast<int>((i * a.plan.row_inverse) >> 20), x = i - y * row_words;
      const std::uint32_t place = 65535u - (first_place + y * a.window + 2 * x);
      const std::uint32_t least = max(bound << 16, best.worst + 1);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::uint32_t key = half != 0 ? (word & 0xffff0000u) | ((place - 1) & 0xffffu)
                                            : word << 16 | (place & 0xffffu);
        const bool hit = key >= least;
        const std::uint32_t ballot = __ballot_sync(~0u, hit);
        if (hit) pending[count + __popc(ballot & ((1u << lane) - 1))] = key;
        count += __popc(ballot);
      }
      while (count >= 32) {
        __syncwarp();
        best.merge(pending, 32, a.keep, lane);
        const std::uint32_t moved0 = lane + 32 < count ? pending[lane + 32] : 0u;
        const std::uint32_t moved1 = lane + 64 < count ? pending[lane + 64] : 0u;
        __syncwarp();
        pending[lane] = moved0;
        pending[lane + 32] = moved1;
        count -= 32;
        __syncwarp();
      }
    }
  }
  __syncwarp();
  if (count > 0) best.merge(pending, count, a.keep, lane);
  __syncwarp();
}

/// Of the reference patch that the warp works on, in the batch.
__device__ inline int index_of(const MatchArgs& a, int reference) {
  return (blockIdx.y * a.batch.blocks_x + blockIdx.x) * block_references + reference;
}

/// The best of the frames before; of the first frame the reference patch itself.
__device__ inline BestList first_list(const MatchArgs& a, int reference) {
  const int lane = threadIdx.x & 31;
  if (a.first) return {lane == 0 ? best_key : 0u, a.keep == 1 ? best_key : 0u};
  const std::uint32_t key = a.keys[index_of(a, reference) * match_keys + lane];
  return {key, __shfl_sync(~0u, key, a.keep - 1), false};
}

/// Writes a group: the reference patch, then the others by distance. `displacement_of`: of a place.
template <class Displacement>
__device__ inline void store_group(const Groups& groups, int index, std::uint32_t key, int keep,
                                   Displacement displacement_of) {
  const int lane = threadIdx.x & 31;
  const int found = __popc(__ballot_sync(~0u, key != 0 && lane < keep));
  const int log2_count = 31 - __clz(found);
  if (lane < (1 << log2_count))
    groups.displacements[index * groups.capacity + lane] =
        lane == 0 ? 0u : displacement_of(65535 - static_cast<int>(key & 0xffffu));
  if (lane == 0) groups.log2_count[index] = static_cast<std::uint8_t>(log2_count);
}

/// Writes the list as a group, or keeps it for the next frame.
__device__ inline void store_list(const MatchArgs& a, int reference, const BestList& best) {
  const int index = index_of(a, reference);
  if (a.keys != nullptr) {
    a.keys[index * match_keys + (threadIdx.x & 31)] = best.key;
    return;
  }
  store_group(a.groups, index, best.key, a.keep, [&](int place) {
    const int y = static_cast<int>(place * a.plan.window_inverse >> 24), x = place - y * a.window;
    return pack_displacement(x - a.radius, y - a.radius);
  });
}

}  // namespace lull::bm3d::match_detail
