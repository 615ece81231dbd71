#pragma once
// Step 3 of match.cu: each warp selects the best scores of one reference patch.

#include "cuda/warp.cuh"
#include "match/cuda/kernels.h"
#include "match/group.h"

namespace lull::match_detail {

// Number of warps in a thread block, one for each reference patch.
constexpr int warps = references;
static_assert(references == references_per_tile);
constexpr std::uint32_t best_key = 0xffffffffu;
// A quad consists of four words of scores. Normally, a warp examines only the quads with a score
// that reaches a bound. In two cases, the warp instead scans all words in order:
// - more than `max_quads` quads reach the bound;
// - more than `typical_quads` quads reach the bound, and few lanes have scores above the bound.
constexpr int typical_quads = 24, max_quads = 64;
static_assert(max_quads <= listed_quads - 32);

struct MatchArgs {
  Guide guide;
  Margins margins;
  ReferenceGrid grid;
  Batch batch;
  Groups groups;
  MatchPlan plan;
  int window, radius;
  int keep;       // N
  int min_score;  // score of a candidate at distance tau
};
/// Launches the kernels of match() with a distance bias (match_biased.cu).
void match_biased(const MatchArgs& args, const DistanceBias& bias, cudaStream_t stream);
/// Returns half of the sum of squared differences of two patches in the 8-bit guide. `mean` is the
/// mean squared difference of these patches on the 0..255 scale.
double half_distance(double mean, const Guide& guide);
/// Collects the arguments of the match kernels.
/// @throws InternalError  scores cannot represent distances up to tau
MatchArgs arguments(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
                    const Batch& batch, const MatchParams& phase, const MatchPlan& plan,
                    const Groups& groups);

/// The part of a table of scores that covers the search window of one reference patch.
struct Scan {
  int rows;
  int odd;          // 1 if the table begins one column before the window
  int first_place;  // index of the first candidate
  int window, row_words;
  std::uint32_t row_inverse;
  std::uint32_t* scores;

  __device__ std::uint16_t* score(int row, int column) const {
    return reinterpret_cast<std::uint16_t*>(scores) + 2 * row * row_words + odd + column;
  }
};

/// Sets the scores that belong to no candidate to 0. These scores are in the unused half word of
/// each row, and in the words behind the last row.
template <int chunk>
__device__ inline void clear_gaps(const Scan& scan, int lane) {
  for (int above = 0; above < scan.rows; above += 32)
    if (above + lane < scan.rows) *scan.score(above + lane, scan.odd != 0 ? -1 : scan.window) = 0;
  const int words = scan.rows * scan.row_words;
  const int scanned = (max(words, 1) + 32 * chunk - 1) / (32 * chunk) * (32 * chunk);
#pragma unroll 1
  for (int i = words + lane; i < scanned; i += 32) scan.scores[i] = 0;
  __syncwarp();
}

/// Returns a score that at least `keep` - 1 candidates reach. `maxima` contains two maximum scores
/// of this lane: the maximum of the low half words, and the maximum of the high half words.
template <int N>
__device__ inline std::uint32_t bound_of(std::uint32_t maxima, int keep, int lane) {
  if constexpr (N == 16) {
    const std::uint32_t best = max(maxima & 0xffffu, maxima >> 16);
    return __shfl_sync(~0u, sort_descending(best, lane), max(keep - 2, 0));
  } else {
    const std::uint32_t sorted = sort_descending<HalfWordOrder>(maxima, lane);
    return warp_min(max(sorted & 0xffffu, __shfl_sync(~0u, sorted, 31 - lane) >> 16));
  }
}

/// The best keys of one reference patch. Lane i has the i-th best key.
struct BestList {
  std::uint32_t key;    // score << 16 | (65535 - position); 0: no key
  std::uint32_t worst;  // the lowest of the N best keys; 0 if there are fewer than N
  bool is_empty = true;

  __device__ void merge(const std::uint32_t* pending, int count, int keep, int lane) {
    merge(lane < count ? pending[lane] : 0u, keep, lane);
  }
  /// Merges one key from each lane into the list. If a lane has no key, `of_lane` is 0.
  __device__ void merge(std::uint32_t of_lane, int keep, int lane) {
    const std::uint32_t fresh = sort_descending(of_lane, lane);
    if (is_empty) {  // the list is empty except for the reference patch
      const std::uint32_t before = __shfl_up_sync(~0u, fresh, 1);
      key = lane == 0 ? best_key : before;
      is_empty = false;
    } else {
      key = merge_descending(max(key, __shfl_sync(~0u, fresh, 31 - lane)), lane);
    }
    worst = __shfl_sync(~0u, key, keep - 1);
  }
};

/// Words with scores, distributed to the lanes. Lane i has the words with the indices `first` + i,
/// `first` + i + 32, `first` + i + 64 and so on.
struct ScanWords {
  const Scan& scan;
  int first;

  /// Returns word `k` of the lane `lane`.
  __device__ std::uint32_t at(int lane, int k) const { return scan.scores[first + lane + 32 * k]; }
  /// Returns the position of the first of the two candidates whose scores are in word `k` of a
  /// lane. The score of this candidate is in the low half of the word.
  __device__ std::uint32_t place(int lane, int k) const {
    const int i = first + lane + 32 * k, y = static_cast<int>((i * scan.row_inverse) >> 20);
    return scan.first_place - scan.odd + y * scan.window + 2 * (i - y * scan.row_words);
  }
};

/// Gathers keys that may be among the best keys.
struct Gathering {
  std::uint32_t* keys;  // [pending_slots]
  int count = 0;        // number of keys in use
  std::uint8_t* quads;  // [listed_quads]

  __device__ explicit Gathering(std::uint32_t* memory)
      : keys(keep_address(memory)), quads(reinterpret_cast<std::uint8_t*>(keys + pending_slots)) {}

  /// Appends one key from each lane, except keys below `least`.
  __device__ void add(std::uint32_t key, std::uint32_t least, int lane) {
    const bool is_valid = key >= least;
    const std::uint32_t ballot = __ballot_sync(~0u, is_valid);
    if (is_valid) keys[count + __popc(ballot & ((1u << lane) - 1))] = key;
    count += __popc(ballot);
  }
  /// If the buffer contains at least 32 keys, merges 32 of these keys into the list `best`.
  __device__ void merge_full(BestList& best, int keep, int lane) {
    if (count < 32) return;
    __syncwarp();
    best.merge(keys, 32, keep, lane);
    const std::uint32_t moved = lane + 32 < count ? keys[lane + 32] : 0u;
    __syncwarp();
    keys[lane] = moved;
    count -= 32;
    __syncwarp();
  }
  /// Adds two neighbouring candidates to the gathered keys. A key combines a score with a position.
  /// The function skips a candidate whose score is below `bound`, or whose key is too low for the
  /// full list `best`.
  /// @param word  the two scores
  /// @param place  65535 minus the position of the first candidate
  __device__ void add_both(std::uint32_t word, std::uint32_t place, std::uint32_t bound,
                           BestList& best, int keep, int lane) {
    add(word << 16 | (place & 0xffffu), max(bound << 16, best.worst + 1), lane);
    merge_full(best, keep, lane);
    add((word & 0xffff0000u) | ((place - 1) & 0xffffu), max(bound << 16, best.worst + 1), lane);
    merge_full(best, keep, lane);
  }
  /// Merges the remaining gathered keys into `best`.
  __device__ void merge_rest(BestList& best, int keep, int lane) {
    __syncwarp();
    if (count > 0) best.merge(keys, count, keep, lane);
    count = 0;
    __syncwarp();
  }

  /// Lists the quads (four words of scores) in which at least one score reaches the bound, and
  /// returns the number of these quads. most[q] describes quad q of this lane: it contains the
  /// maximum of the low half words and the maximum of the high half words.
  template <int quad_count>
  __device__ int note_quads(const std::uint32_t (&most)[quad_count], std::uint32_t bound,
                            int lane) {
    const std::uint32_t below = (bound - 1) * 0x10001u;
    int noted = 0;
#pragma unroll
    for (int q = 0; q < quad_count; ++q) {
      const bool is_valid = __vmaxu2(most[q], below) != below;
      const std::uint32_t ballot = __ballot_sync(~0u, is_valid);
      if (is_valid && (32 * q < listed_quads || noted <= listed_quads - 32))
        quads[noted + __popc(ballot & ((1u << lane) - 1))] =
            static_cast<std::uint8_t>(32 * q + lane);
      noted += __popc(ballot);
    }
    return noted;
  }
};

/// Gathers keys from all words in order. A word has two scores, and reaches the bound if one of
/// them is at least `bound`. From the first keep - 1 words that reach the bound, the function
/// gathers all scores of at least `bound`. From later words, it gathers only higher scores, because
/// nearly all words of flat pictures reach the bound.
template <int chunk, class Words>
__device__ inline void add_in_order(const Words& words, std::uint32_t bound, int keep,
                                    Gathering& gathering, BestList& best, int lane) {
  const std::uint32_t ties = bound * 0x10001u, below = ties - 0x10001u;
  int before = 0;  // number of words with scores that reach the bound
#pragma unroll 1
  for (int k = 0; k < chunk; ++k) {
    const std::uint32_t word = words.at(lane, k);
    const bool is_hit = __vmaxu2(word, below) != below, is_over = __vmaxu2(word, ties) != ties;
    const std::uint32_t ballot = __ballot_sync(~0u, before < keep - 1 ? is_hit : is_over);
    if (ballot == 0) continue;
    const bool is_early = before + __popc(ballot & ((1u << lane) - 1)) < keep - 1;
    before += __popc(ballot);
    const bool counts = is_over || (is_hit && is_early);
    gathering.add_both(counts ? word : 0u, 65535u - words.place(lane, k), bound, best, keep, lane);
  }
}

/// Merges the best scores of all lanes into the list `best`. Each lane has `chunk` words of scores.
/// After the call, `gathering` may contain keys that are not yet in the list; merge_rest() merges
/// these keys.
template <int N, int chunk, class Words>
__device__ inline void select_chunk(const Words& words, int keep, int min_score,
                                    Gathering& gathering, BestList& best) {
  constexpr int quad = 4, quads = (chunk + quad - 1) / quad;
  const int lane = threadIdx.x & 31;
  std::uint32_t most[quads], maxima = 0;
#pragma unroll
  for (int q = 0; q < quads; ++q) {
    most[q] = words.at(lane, quad * q);
#pragma unroll
    for (int k = quad * q + 1; k < quad * q + quad && k < chunk; ++k)
      most[q] = __vmaxu2(most[q], words.at(lane, k));
    maxima = __vmaxu2(maxima, most[q]);
  }
  // A candidate can enter the list only with a score above the lowest score of the list. An equal
  // score is not enough, because the later position ranks lower.
  const std::uint32_t bound = max(max(bound_of<N>(maxima, keep, lane), (best.worst >> 16) + 1),
                                  static_cast<std::uint32_t>(min_score));
  const int noted = gathering.note_quads(most, bound, lane);
  __syncwarp();
  if (noted > typical_quads) {
    const std::uint32_t ties = bound * 0x10001u;
    const std::uint32_t over = __ballot_sync(~0u, __vmaxu2(maxima, ties) != ties);
    if (__popc(over) < (keep - 1) / 2 || noted > max_quads)
      return add_in_order<chunk>(words, bound, keep, gathering, best, lane);
  }
#pragma unroll 1
  for (int first = 0; first < noted; first += 32 / quad) {
    std::uint32_t word = 0, place = 0;
    if (first + lane / quad < noted) {
      const int one = gathering.quads[first + lane / quad];
      const int of_lane = one % 32, k = one / 32 * quad + lane % quad;
      if (chunk % quad == 0 || k < chunk) {
        word = words.at(of_lane, k);
        place = 65535u - words.place(of_lane, k);
      }
    }
    gathering.add_both(word, place, bound, best, keep, lane);
  }
  __syncwarp();  // waits before quads are listed again
}

/// Selects the best scores of one reference patch (step 3 of match.cu).
/// @param from  index of the first word (two scores) that the selection reads
template <int N, int chunk>
__device__ inline void select(const Scan& scan, int keep, int min_score, Gathering& gathering,
                              BestList& best, int from = 0) {
  const int words = scan.rows * scan.row_words;
  for (; from < words; from += 32 * chunk)
    select_chunk<N, chunk>(ScanWords{scan, from}, keep, min_score, gathering, best);
  gathering.merge_rest(best, keep, threadIdx.x & 31);
}

/// Stores the list `best` as a group. `displacement_of` converts the position of a candidate to its
/// displacement.
template <class Displacement>
__device__ inline void store_group(const MatchArgs& a, int reference, const BestList& best,
                                   Displacement displacement_of) {
  const int lane = threadIdx.x & 31;
  const int found = __popc(__ballot_sync(~0u, best.key != 0 && lane < a.keep));
  const int log2_count = 31 - __clz(found);
  const int index = (blockIdx.y * a.batch.tiles_x + blockIdx.x) * references_per_tile + reference;
  if (lane < (1 << log2_count))
    a.groups.displacements[index * a.groups.capacity + lane] =
        lane == 0 ? 0u : displacement_of(65535 - static_cast<int>(best.key & 0xffffu));
  if (lane == 0) a.groups.log2_count[index] = static_cast<std::uint8_t>(log2_count);
}

}  // namespace lull::match_detail
