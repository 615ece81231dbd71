// Selects the most similar candidates exactly and in order, without a complete sort, one reference
// patch in each lane.

// For groups of N patches (the reference patch and N - 1 candidates), the matcher first finds an
// upper bound for the scores of members. It divides the candidates into 2 * N classes, and finds
// the minimum score of each class. The upper bound is the (N - 1)-th smallest of these minima. At
// least N - 1 candidates, on average about 1.5 * N, have scores up to this bound.

// Candidates with a score up to the bound become keys: a score and a position in the window. The
// rank of a key is the number of smaller keys.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/select.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "match/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<std::uint16_t>;
/// A key consists of a score and, in the lower bits, a position in the window. Keys are positive
/// numbers of a signed type, because signed comparisons are cheaper.
using Keys = hn::ScalableTag<std::int32_t>;
inline constexpr int max_classes = 2 * max_group, max_window = 127, place_bits = 15;
static_assert(max_window * max_window < 1 << place_bits);
inline constexpr std::uint32_t last_lane = 1u << (lane_multiple - 1);
inline constexpr std::uint32_t place_mask = (1u << place_bits) - 1, no_key = 0x7fffffff;

HWY_INLINE void order(std::uint16_t* a, std::uint16_t* b) {
  const Lanes d;
  const auto va = hn::Load(d, a), vb = hn::Load(d, b);
  hn::Store(hn::Min(va, vb), d, a);
  hn::Store(hn::Max(va, vb), d, b);
}

/// Sorts `count` = 2^n vectors lane by lane (Batcher's odd-even merge sort).
HWY_INLINE void sort_lanes(std::uint16_t* vectors, int count) {
  const int width = static_cast<int>(hn::Lanes(Lanes()));
  for (int p = 1; p < count; p *= 2)
    for (int k = p; k >= 1; k /= 2)
      for (int j = k % p; j + k < count; j += 2 * k)
        for (int i = j; i < std::min(j + k, count - k); ++i)
          if ((i ^ (i + k)) < 2 * p) order(vectors + i * width, vectors + (i + k) * width);
}

/// Returns, in each lane, the value with the rank `wanted` among the 2 * (wanted + 1) values of
/// this lane in `vectors`. The smallest value has the rank 1. The function sorts each half of
/// `vectors`.
HWY_INLINE hn::Vec<Lanes> bound_of(std::uint16_t* vectors, int wanted) {
  const Lanes d;
  const int width = static_cast<int>(hn::Lanes(d)), half = wanted + 1;
  sort_lanes(vectors, half);
  sort_lanes(vectors + half * width, half);
  const auto last_of = [&](int first, int count) HWY_ATTR {
    return count == 0 ? hn::Zero(d) : hn::Load(d, vectors + (first + count - 1) * width);
  };
  auto bound = hn::Set(d, 0xffff);
  for (int i = 0; i <= wanted; ++i)
    bound = hn::Min(bound, hn::Max(last_of(0, i), last_of(half, wanted - i)));
  return bound;
}

/// Collects the keys of `lane_multiple` reference patches, one reference patch in each lane. For
/// each candidate, the scores of these patches fill one cache line.
class Collector {
 public:
  Collector(int wanted, std::uint32_t* keys) : wanted_(wanted), keys_(keys) {}

  /// Returns the upper bounds of the scores, one for each lane. The caller sets the bounds before
  /// collect().
  std::uint16_t* bounds() { return bounds_; }
  void clear() { std::fill(std::begin(counts_), std::end(counts_), 0); }

  /// Collects the keys of all scores below the bounds. The function examines `count` candidates (at
  /// most 127), beginning with the candidate `first`. The loop over the scores contains no branch.
  HWY_INLINE void collect(const std::uint16_t* values, std::size_t stride, std::uint32_t first,
                          int count) {
    // Each element of `hits` contains a candidate index and, in the 5 lowest bits, a lane.
    std::uint32_t hits[(max_window + 1) * lane_multiple];
    int found = 0;
    values += first * stride;
    for (int i = 0; i < count; ++i) {
      std::uint32_t bits = near(values + i * stride);
      const int hit = std::popcount(bits), base = i * lane_multiple;
      for (int n = 0; n < 4; ++n) {  // elements beyond `hit` are overwritten
        // The bit `last_lane` is always 1, so that the argument of countr_zero() is never 0.
        hits[found + n] = base + std::countr_zero(bits | last_lane);
        bits &= bits - 1;
      }
      for (int n = 4; bits != 0; ++n) {
        hits[found + n] = base + std::countr_zero(bits);
        bits &= bits - 1;
      }
      found += hit;
    }
    for (int n = 0; n < found; ++n) {
      const std::uint32_t i = hits[n] / lane_multiple, lane = hits[n] % lane_multiple;
      const std::uint32_t score = values[i * stride + lane];
      keys_[lane * max_keys + counts_[lane]] = score << place_bits | (first + i);
      if (++counts_[lane] == max_keys) tighten(lane);
    }
  }

  /// Writes the smallest keys of a lane to the array `sorted`, in ascending order. Returns their
  /// number, which is at most `wanted`.
  HWY_INLINE int ranked(int lane, std::uint32_t* sorted) const {
    const Keys d;
    const int width = static_cast<int>(hn::Lanes(d)), step = 2 * width;
    std::uint32_t* const keys = keys_ + lane * max_keys;
    const int count = counts_[lane], padded = static_cast<int>(round_up(count, step));
    std::fill(keys + count, keys + padded, no_key);
    alignas(64) std::int32_t ranks[max_keys];
    const auto* const signed_keys = reinterpret_cast<const std::int32_t*>(keys);
    for (int j = 0; j < padded; j += step) {
      const auto a = hn::Load(d, signed_keys + j), b = hn::Load(d, signed_keys + j + width);
      auto rank_a = hn::Zero(d), rank_b = rank_a;
      for (int i = 0; i < count; ++i) {
        const auto other = hn::Set(d, signed_keys[i]);
        rank_a = hn::Sub(rank_a, hn::VecFromMask(d, hn::Lt(other, a)));
        rank_b = hn::Sub(rank_b, hn::VecFromMask(d, hn::Lt(other, b)));
      }
      hn::Store(rank_a, d, ranks + j);
      hn::Store(rank_b, d, ranks + j + width);
    }
    for (int j = 0; j < count; ++j) sorted[ranks[j]] = keys[j];
    return std::min(count, wanted_);
  }

 private:
  /// Returns a bit mask of the lanes whose score is below their bound.
  HWY_INLINE std::uint32_t near(const std::uint16_t* values) const {
    const Lanes d;
    const int width = static_cast<int>(hn::Lanes(d));
    std::uint32_t bits = 0;
    for (int lane = 0; lane < lane_multiple; lane += width) {
      const auto below = hn::Lt(hn::LoadU(d, values + lane), hn::Load(d, bounds_ + lane));
      alignas(8) std::uint8_t raw[8] = {};
      hn::StoreMaskBits(d, below, raw);
      std::uint32_t part;
      std::memcpy(&part, raw, sizeof part);
      bits |= part << lane;
    }
    return bits;
  }

  /// Removes all but the `wanted` smallest keys of a lane, and lowers the bound of the lane to the
  /// largest remaining score. The matcher skips later candidates with this score, because their
  /// keys are larger.
  void tighten(int lane) {
    std::uint32_t* const keys = keys_ + lane * max_keys;
    std::nth_element(keys, keys + wanted_ - 1, keys + max_keys);
    counts_[lane] = wanted_;
    bounds_[lane] = static_cast<std::uint16_t>(keys[wanted_ - 1] >> place_bits);
  }

  int wanted_;
  std::uint32_t* keys_;
  alignas(64) std::uint16_t bounds_[lane_multiple];
  int counts_[lane_multiple] = {};
};

}  // namespace

void rank_candidates(const SelectParams& params, const MatchGeometry& geometry, const Block& block,
                     int step, int row, const Scores& scores, const SelectScratch& scratch,
                     std::span<Ranking> rankings) {
  const Lanes d;
  const int width = static_cast<int>(hn::Lanes(d));
  const int y = block.y + row * step, radius = geometry.radius(), wanted = params.group - 1;
  const std::size_t stride = scores.lanes;
  const std::uint16_t* const values =
      scores.values + static_cast<std::size_t>(row) * geometry.window * geometry.window * stride;
  Collector collector(wanted, scratch.keys);

  const std::uint16_t* const minima =
      scores.minima + static_cast<std::size_t>(row) * scores.classes * stride;
  for (int lane = 0; lane < block.columns; lane += lane_multiple) {
    const int used = std::min(lane_multiple, block.columns - lane);
    for (int part = 0; part < lane_multiple; part += width) {
      alignas(64) std::uint16_t sorted[max_classes * lane_multiple];
      for (int i = 0; i < scores.classes; ++i)
        hn::Store(hn::LoadU(d, minima + i * stride + lane + part), d, sorted + i * width);
      const auto bound = hn::Min(bound_of(sorted, wanted), hn::Set(d, params.limit));
      hn::Store(hn::Add(bound, hn::Set(d, 1)), d, collector.bounds() + part);
    }
    std::fill(collector.bounds() + used, collector.bounds() + lane_multiple, std::uint16_t{0});
    collector.clear();
    for (int dy = geometry.first_dy(y); dy <= geometry.last_dy(y); ++dy)
      collector.collect(values + lane, stride,
                        static_cast<std::uint32_t>((dy + radius) * geometry.window),
                        geometry.window);
    for (int i = 0; i < used; ++i) {
      alignas(64) std::uint32_t keys[max_keys];
      Ranking& ranking = rankings[lane + i];
      ranking.count = collector.ranked(i, keys);
      for (int m = 0; m < ranking.count; ++m) {
        ranking.score[m] = static_cast<std::uint16_t>(keys[m] >> place_bits);
        ranking.member[m] = params.displacement[keys[m] & place_mask];
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
HWY_EXPORT(rank_candidates);
void rank_candidates(const SelectParams& params, const MatchGeometry& geometry, const Block& block,
                     int step, int row, const Scores& scores, const SelectScratch& scratch,
                     std::span<Ranking> rankings) {
  HWY_DYNAMIC_DISPATCH(rank_candidates)
  (params, geometry, block, step, row, scores, scratch, rankings);
}

void make_group(const Ranking& ranking, Group& group) {
  group.count = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranking.count + 1)));
  group.members[0] = pack_displacement(0, 0);
  for (int m = 1; m < group.count; ++m) group.members[m] = ranking.member[m - 1];
}

Group group_of(const Ranking& ranking) {
  Group group;
  make_group(ranking, group);
  return group;
}
}  // namespace lull::cpu
#endif
