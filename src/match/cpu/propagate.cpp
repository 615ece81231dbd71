// Makes groups by propagation: the candidates of a reference patch are members of other groups. To
// sort keys (score and index), the code counts for each key how many keys are smaller.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/propagate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "match/cpu/kernels.h"
#include "match/cpu/squares.h"
#include "match/propagation.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Members = hn::CappedTag<std::int32_t, 16>;
using Pairs = hn::CappedTag<std::uint16_t, 16>;

constexpr int member_bits = 5;
static_assert(1 << member_bits >= max_propagated);

/// The samples of a reference patch, in the layout that score() expects.
class StripReference {
 public:
  HWY_INLINE explicit StripReference(const std::int8_t* at, std::size_t below) : below_(below) {
    for (int i = 0; i < parts; ++i) hn::Store(load_bytes(Pairs(), piece(at, i)), bytes, own(i));
  }

  /// Returns the score of the patch at address `at`. Patches with a score of 65535 or more are not
  /// candidates.
  HWY_INLINE std::int32_t score(const std::int8_t* at) const {
    const Pairs d;
    const hn::Repartition<std::uint32_t, Pairs> sums;
    auto sum = hn::Zero(d);
#pragma GCC unroll 8
    for (int i = 0; i < parts; ++i)
      sum = hn::SaturatedAdd(sum, squared_pairs(d, hn::Load(bytes, own(i)), piece(at, i)));
    const auto two = hn::BitCast(sums, sum);
    const auto pairs = hn::Add(hn::ShiftRight<16>(two), hn::And(two, hn::Set(sums, 0xffff)));
    return static_cast<std::int32_t>(hn::GetLane(hn::SumOfLanes(sums, pairs)));
  }

 private:
  static constexpr hn::Repartition<std::int8_t, Pairs> bytes{};
  static constexpr int half = patch * patch / 2, part = 2 * static_cast<int>(hn::MaxLanes(Pairs()));
  static constexpr int parts = 2 * half / part;

  HWY_INLINE const std::uint16_t* piece(const std::int8_t* at, int i) const {
    return reinterpret_cast<const std::uint16_t*>(
        at + (i * part < half ? i * part : below_ + i * part - half));
  }
  HWY_INLINE std::int8_t* own(int i) { return samples_ + i * part; }
  HWY_INLINE const std::int8_t* own(int i) const { return samples_ + i * part; }

  std::size_t below_;
  alignas(64) std::int8_t samples_[2 * half];
};

/// Copies the group members at allowed displacements to the array `to`. The array has space for
/// max_propagated members and one vector. Returns the number of copied members.
HWY_INLINE int reachable(const PropagationReach& reach, const std::uint32_t* members, int count,
                         std::int32_t* to) {
  const Members d;
  int found = 0;
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d))) {
    const auto member = hn::LoadU(d, reinterpret_cast<const std::int32_t*>(members) + i);
    const auto dx = hn::ShiftRight<20>(hn::ShiftLeft<20>(member));
    const auto dy = hn::ShiftRight<20>(hn::ShiftLeft<8>(member));
    const auto dt = hn::ShiftRight<24>(member);
    auto good = hn::FirstN(d, 0);
    for (const int offset : reach.offsets) {
      const PropagationFrame& frame = reach.frames[offset];
      const auto outside =
          hn::Or(hn::Or(hn::Lt(dx, hn::Set(d, frame.left)), hn::Gt(dx, hn::Set(d, frame.right))),
                 hn::Or(hn::Lt(dy, hn::Set(d, frame.top)), hn::Gt(dy, hn::Set(d, frame.bottom))));
      const auto away = hn::Max(hn::Abs(hn::Sub(dx, hn::Set(d, frame.predicted.x))),
                                hn::Abs(hn::Sub(dy, hn::Set(d, frame.predicted.y))));
      const auto far = hn::Gt(away, hn::Set(d, frame.refine_radius));
      const auto here = hn::And(hn::Eq(dt, hn::Set(d, offset)), far);
      good = hn::Or(good, hn::AndNot(outside, here));
    }
    good = hn::And(good, hn::FirstN(d, count - i));
    found += static_cast<int>(hn::CompressStore(member, good, d, to + found));
  }
  return found;
}

/// Removes repeated members from `list`, and returns the number of remaining members. `list` has
/// space for max_propagated members and one vector.
HWY_INLINE int remove_duplicates(std::int32_t* list, int count) {
  const Members d;
  const int width = static_cast<int>(hn::Lanes(d));
  alignas(64) std::int32_t all[max_propagated];
  for (int j = 0; j < count; j += width) hn::Store(hn::LoadU(d, list + j), d, all + j);
  int left = 0;
  for (int j = 0; j < count; j += width) {
    const auto own = hn::Load(d, all + j), place = hn::Iota(d, j);
    auto repeated = hn::FirstN(d, 0);
    for (int i = 0; i < std::min(count, j + width - 1); ++i)
      repeated =
          hn::Or(repeated, hn::And(hn::Eq(own, hn::Set(d, all[i])), hn::Gt(place, hn::Set(d, i))));
    const auto first = hn::AndNot(repeated, hn::FirstN(d, count - j));
    left += static_cast<int>(hn::CompressStore(own, first, d, list + left));
  }
  return left;
}

/// Sorts `count` keys in ascending order. The array has space for max_propagated keys.
HWY_INLINE void sort_keys(std::int32_t* keys, int count) {
  const Members d;
  const int width = static_cast<int>(hn::Lanes(d));
  alignas(64) std::int32_t ranks[max_propagated], before[max_propagated];
  for (int j = 0; j < count; j += width) {
    const auto own = hn::Load(d, keys + j);
    auto rank = hn::Zero(d);
    for (int i = 0; i < count; ++i)
      rank = hn::Sub(rank, hn::VecFromMask(d, hn::Lt(hn::Set(d, keys[i]), own)));
    hn::Store(rank, d, ranks + j);
    hn::Store(own, d, before + j);
  }
  for (int j = 0; j < count; ++j) keys[ranks[j]] = before[j];
}

}  // namespace

Group propagate(const PropagateParams& params, const PropagationReach& reach, int x, int y,
                std::span<const std::uint32_t> members, const Ranking& near) {
  alignas(64) std::int32_t list[2 * max_propagated], keys[max_propagated + 1];
  const int count = remove_duplicates(
      list, reachable(reach, members.data(), static_cast<int>(members.size()), list));
  const std::ptrdiff_t row = reach.row;
  const std::ptrdiff_t origin = (y * row + x) * (patch / 2);
  const StripReference reference(reach.frames[0].strips + origin, row * (patch / 2) * (patch / 2));
  const int wanted = params.group - 1;
  const std::int32_t bound =
      wanted > 0 && near.count == wanted ? near.score[wanted - 1] : params.limit + 1;
  int found = 0;
  for (int m = 0; m < count; ++m) {
    const auto member = static_cast<std::uint32_t>(list[m]);
    const int dx = displacement_x(member), dy = displacement_y(member);
    const int dt = displacement_t(member);
    const PropagationFrame& frame = reach.frames[dt];
    std::int32_t score = reference.score(frame.strips + origin + (dy * row + dx) * (patch / 2));
    if (dt != 0 && dx == frame.predicted.x && dy == frame.predicted.y && score < saturated_score)
      score = std::max(0, score - params.motion_bias);
    keys[found] = score << member_bits | m;
    found += score < bound;
  }
  sort_keys(keys, found);
  keys[found] = std::numeric_limits<std::int32_t>::max();
  Group group;
  const int all = std::min(wanted, near.count + found);
  group.count = static_cast<int>(std::bit_floor(static_cast<unsigned>(all + 1)));
  group.members[0] = pack_displacement(0, 0);
  for (int m = 1, i = 0, j = 0; m < group.count; ++m) {
    const bool is_near = i < near.count && near.score[i] <= keys[j] >> member_bits;
    group.members[m] =
        is_near ? near.member[i] : static_cast<std::uint32_t>(list[keys[j] % max_propagated]);
    i += is_near;
    j += !is_near;
  }
  return group;
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
HWY_EXPORT(propagate);
Group propagate(const PropagateParams& params, const PropagationReach& reach, int x, int y,
                std::span<const std::uint32_t> members, const Ranking& near) {
  return HWY_DYNAMIC_DISPATCH(propagate)(params, reach, x, y, members, near);
}
}  // namespace lull::cpu
#endif
