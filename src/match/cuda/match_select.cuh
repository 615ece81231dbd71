#pragma once
// Step 3 of match.cu: the best of one reference patch's scores, by one warp.

#include "cuda/warp.cuh"
#include "match/cuda/kernels.h"
#include "match/group.h"

namespace lull::match_detail {

constexpr int warps = references;  // one reference patch for each warp in step 3
static_assert(references == brick_references);
constexpr std::uint32_t best_key = 0xffffffffu;
constexpr int usual_hits = 4;  // of a lane, at most, where scores differ from each other

struct MatchArgs {
  Guide guide;
  Margins margins;
  ReferenceGrid grid;
  Batch batch;
  Groups groups;
  MatchPlan plan;
  int window, radius;
  int keep;       // N
  int min_score;  // score at distance tau
};
/// match() with a bias (match_biased.cu).
void match_biased(const MatchArgs& args, const DistanceBias& bias, cudaStream_t stream);
/// Half the squared distance of patches at this mean squared one, in the guide's units.
double half_distance(double mean, const Guide& guide);
/// @throws InternalError where distances up to tau do not fit
MatchArgs arguments(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
                    const Batch& batch, const MatchParams& phase, const MatchPlan& plan,
                    const Groups& groups);

/// Rows of one reference patch's window in its table.
struct Scan {
  int rows;
  int odd;          // the table begins one column before the window
  int first_place;  // of the first candidate
  int window, row_words;
  std::uint32_t row_inverse;
  std::uint32_t* scores;

  __device__ std::uint16_t* score(int row, int column) const {
    return reinterpret_cast<std::uint16_t*>(scores) + 2 * row * row_words + odd + column;
  }
};

/// Zeroes the half words that hold no candidate, and the words behind the last row up to the end of
/// the scan, which takes whole chunks, and one at least.
template <int chunk>
__device__ inline void clear_gaps(const Scan& scan, int lane) {
  for (int row = lane; row < scan.rows; row += 32)
    *scan.score(row, scan.odd != 0 ? -1 : scan.window) = 0;
  const int words = scan.rows * scan.row_words;
  const int scanned = (max(words, 1) + 32 * chunk - 1) / (32 * chunk) * (32 * chunk);
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
    merge(lane < count ? pending[lane] : 0u, keep, lane);
  }
  /// One key of each lane, 0 for none.
  __device__ void merge(std::uint32_t of_lane, int keep, int lane) {
    const std::uint32_t fresh = sort_descending(of_lane, lane);
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

/// A lane's words of a scan, 32 apart, from `first` on.
struct ScanWords {
  const Scan& scan;
  int first;

  __device__ std::uint32_t operator[](int k) const { return scan.scores[first + 32 * k]; }
  /// Of the candidate in the low half of word k.
  __device__ std::uint32_t place(int k) const {
    const int i = first + 32 * k, y = static_cast<int>((i * scan.row_inverse) >> 20);
    return scan.first_place - scan.odd + y * scan.window + 2 * (i - y * scan.row_words);
  }
};

/// Of a lane's words with hits: those that may count. In flat and black pictures nearly all scores
/// are equal, and every word reaches the bound; but of equal scores the first places count, so that
/// a word whose scores are at the bound, none over it, cannot count behind keep - 1 others with
/// hits.
template <int chunk, class Words>
__device__ inline std::uint32_t without_late_ties(const Words& words, std::uint32_t hits,
                                                  std::uint32_t maxima, std::uint32_t bound,
                                                  int keep, int lane) {
  std::uint32_t early = 0;
  int before = 0;  // words with hits, in the order of places
#pragma unroll 1
  for (int k = 0; k < chunk && before < keep - 1; ++k) {
    const std::uint32_t ballot = __ballot_sync(~0u, (hits >> k & 1) != 0);
    if (before + __popc(ballot & ((1u << lane) - 1)) < keep - 1) early |= 1u << k;
    before += __popc(ballot);
  }
  std::uint32_t late = hits & ~early;
  hits &= early;
  const std::uint32_t ties = bound * 0x10001u;
  if (__vmaxu2(maxima, ties) == ties) return hits;
  for (; late != 0; late &= late - 1) {
    const int k = __ffs(late) - 1;
    if (__vmaxu2(words[k], ties) != ties) hits |= 1u << k;
  }
  return hits;
}

/// Adds the best of `chunk` words of each lane to the list; of them, `count` stay in `pending`.
template <int N, int chunk, class Words>
__device__ inline void select_chunk(const Words& words, int keep, int min_score,
                                    std::uint32_t* pending, int& count, BestList& best) {
  const int lane = threadIdx.x & 31;
  std::uint32_t v[chunk], maxima = 0;
#pragma unroll
  for (int k = 0; k < chunk; ++k) {
    v[k] = words[k];
    maxima = __vmaxu2(maxima, v[k]);
  }
  // Places rise from chunk to chunk, so that a score equal to the worst of the list comes too late.
  const std::uint32_t bound = max(max(bound_of<N>(maxima, keep, lane), (best.worst >> 16) + 1),
                                  static_cast<std::uint32_t>(min_score));
  const std::uint32_t below = (bound - 1) * 0x10001u;
  std::uint32_t hits = 0;  // words of this lane that hold a score at or over the bound
#pragma unroll
  for (int k = 0; k < chunk; ++k)
    if (__vmaxu2(v[k], below) != below) hits |= 1u << k;
  if (__any_sync(~0u, __popc(hits) > usual_hits))
    hits = without_late_ties<chunk>(words, hits, maxima, bound, keep, lane);

  while (__any_sync(~0u, hits != 0)) {
    const int k = (__ffs(hits) - 1) & 31;
    const std::uint32_t word = hits != 0 ? words[k] : 0u;
    hits &= hits - 1;
    const std::uint32_t place = 65535u - words.place(k);
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
      best.merge(pending, 32, keep, lane);
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

/// Step 3, for one reference patch: the chunks of a scan from word `from` on, after those that
/// left `count` pending.
template <int N, int chunk>
__device__ inline void select(const Scan& scan, int keep, int min_score, std::uint32_t* pending,
                              BestList& best, int from = 0, int count = 0) {
  const int lane = threadIdx.x & 31, words = scan.rows * scan.row_words;
  for (; from < words; from += 32 * chunk)
    select_chunk<N, chunk>(ScanWords{scan, from + lane}, keep, min_score, pending, count, best);
  __syncwarp();
  if (count > 0) best.merge(pending, count, keep, lane);
  __syncwarp();
}

/// Writes the list of a reference patch as a group: the patch itself, then the others by distance.
/// `displacement_of`: of a place.
template <class Displacement>
__device__ inline void store_group(const MatchArgs& a, int reference, const BestList& best,
                                   Displacement displacement_of) {
  const int lane = threadIdx.x & 31;
  const int found = __popc(__ballot_sync(~0u, best.key != 0 && lane < a.keep));
  const int log2_count = 31 - __clz(found);
  const int index = (blockIdx.y * a.batch.bricks_x + blockIdx.x) * brick_references + reference;
  if (lane < (1 << log2_count))
    a.groups.displacements[index * a.groups.capacity + lane] =
        lane == 0 ? 0u : displacement_of(65535 - static_cast<int>(best.key & 0xffffu));
  if (lane == 0) a.groups.log2_count[index] = static_cast<std::uint8_t>(log2_count);
}

}  // namespace lull::match_detail
