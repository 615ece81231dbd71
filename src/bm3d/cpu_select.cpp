// The most similar candidates of each reference, exactly and in order, without sorting them all.
//
// Lanes are references. The matching kept the least score of each of `classes` classes of
// candidates, twice as many as a group has patches: the N-th smallest of these minima is a bound
// that at least N candidates meet and few more (about 1.5 N). A sorting network over the
// minima gives it for a vector of references at once. The candidates within the bound are collected
// as keys (score, then place in the window); each key's rank among them is the number of smaller
// ones, counted with vectors.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm3d/cpu_select.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "bm3d/cpu_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<std::uint16_t>;
using Keys = hn::ScalableTag<std::uint32_t>;
inline constexpr int max_classes = 2 * max_group;

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
          if (i / (2 * p) == (i + k) / (2 * p))
            order(vectors + i * width, vectors + (i + k) * width);
}

/// Keys of the references in one vector, and the score from which on candidates are of no use.
class Collector {
 public:
  Collector(int wanted, std::uint32_t* keys) : wanted_(wanted), keys_(keys) {}

  /// `bounds`: the first score of no use, for each lane.
  HWY_INLINE void collect(const std::uint16_t* values, std::size_t stride, std::uint32_t first,
                          std::uint32_t last) {
    const Lanes d;
    for (std::uint32_t c = first; c < last; ++c) {
      const std::uint16_t* const at = values + c * stride;
      const auto near = hn::Lt(hn::LoadU(d, at), hn::Load(d, bounds_));
      if (hn::AllFalse(d, near)) continue;
      alignas(8) std::uint8_t raw[8] = {};
      hn::StoreMaskBits(d, near, raw);
      std::uint32_t bits;
      std::memcpy(&bits, raw, sizeof bits);
      for (; bits != 0; bits &= bits - 1) {
        const int lane = std::countr_zero(bits);
        keys_[lane * max_keys + counts_[lane]] = static_cast<std::uint32_t>(at[lane]) << 16 | c;
        if (++counts_[lane] == max_keys) tighten(lane);
      }
    }
  }

  /// The least keys of a lane in order, at most as many as wanted; gives their number.
  HWY_INLINE int ranked(int lane, std::uint32_t* sorted) const {
    const Keys d;
    const int width = static_cast<int>(hn::Lanes(d));
    std::uint32_t* const keys = keys_ + lane * max_keys;
    const int count = counts_[lane], padded = static_cast<int>(round_up(count, width));
    std::fill(keys + count, keys + padded, 0xffffffffu);
    alignas(64) std::uint32_t ranks[max_keys];
    for (int j = 0; j < padded; j += width) {
      const auto own = hn::Load(d, keys + j);
      auto rank = hn::Zero(d);
      for (int i = 0; i < count; ++i) {
        const auto other = hn::Set(d, keys[i]);
        rank = hn::Sub(rank, hn::VecFromMask(d, hn::Lt(other, own)));
      }
      hn::Store(rank, d, ranks + j);
    }
    for (int j = 0; j < count; ++j) sorted[ranks[j]] = keys[j];
    return std::min(count, wanted_);
  }

  std::uint16_t* bounds() { return bounds_; }
  void clear() { std::fill(std::begin(counts_), std::end(counts_), 0); }

 private:
  /// Keeps the wanted keys. What comes later loses against equal scores, by its place.
  void tighten(int lane) {
    std::uint32_t* const keys = keys_ + lane * max_keys;
    std::nth_element(keys, keys + wanted_ - 1, keys + max_keys);
    counts_[lane] = wanted_;
    bounds_[lane] = static_cast<std::uint16_t>(keys[wanted_ - 1] >> 16);
  }

  int wanted_;
  std::uint32_t* keys_;
  alignas(64) std::uint16_t bounds_[lane_multiple];
  int counts_[lane_multiple] = {};
};

}  // namespace

void select_groups(const SelectParams& params, const MatchGeometry& geometry, const Block& block,
                   int step, int row, const Scores& scores, const SelectScratch& scratch,
                   std::span<Group> groups) {
  const Lanes d;
  const int width = static_cast<int>(hn::Lanes(d));
  const int y = block.y + row * step, radius = geometry.radius(), wanted = params.group - 1;
  const std::uint32_t first = (geometry.first_dy(y) + radius) * geometry.window;
  const std::uint32_t last = (geometry.last_dy(y) + radius + 1) * geometry.window;
  const std::size_t stride = scores.lanes;
  const std::uint16_t* const values =
      scores.values + static_cast<std::size_t>(row) * geometry.window * geometry.window * stride;
  const std::uint16_t* const minima =
      scores.minima + static_cast<std::size_t>(row) * scores.classes * stride;
  Collector collector(wanted, scratch.keys);

  for (int lane = 0; lane < block.columns; lane += width) {
    alignas(64) std::uint16_t sorted[max_classes * lane_multiple];
    for (int i = 0; i < scores.classes; ++i)
      hn::Store(hn::LoadU(d, minima + i * stride + lane), d, sorted + i * width);
    sort_lanes(sorted, scores.classes);
    const auto bound =
        hn::Min(hn::Load(d, sorted + (wanted - 1) * width), hn::Set(d, params.limit));
    hn::Store(hn::Add(bound, hn::Set(d, 1)), d, collector.bounds());
    collector.clear();
    const int used = std::min(width, block.columns - lane);
    std::fill(collector.bounds() + used, collector.bounds() + width, std::uint16_t{0});
    collector.collect(values + lane, stride, first, last);

    for (int i = 0; i < used; ++i) {
      alignas(64) std::uint32_t keys[max_keys];
      const int found = collector.ranked(i, keys);
      Group& group = groups[lane + i];
      group.count = static_cast<int>(std::bit_floor(static_cast<unsigned>(found + 1)));
      group.members[0] = pack_displacement(0, 0);
      for (int m = 1; m < group.count; ++m)
        group.members[m] = params.displacement[keys[m - 1] & 0xffffu];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm3d::cpu {
HWY_EXPORT(select_groups);
void select_groups(const SelectParams& params, const MatchGeometry& geometry, const Block& block,
                   int step, int row, const Scores& scores, const SelectScratch& scratch,
                   std::span<Group> groups) {
  HWY_DYNAMIC_DISPATCH(select_groups)(params, geometry, block, step, row, scores, scratch, groups);
}
}  // namespace lull::bm3d::cpu
#endif
