// The members of a kept group by their distances in a new guide.
//
// A patch's row of 8 bytes is widened to a vector of 16 bits; squares of differences are summed in
// 32 bits, so that nothing saturates. Scores and places make keys that all differ; the rank of one
// is the number of smaller ones, counted with vectors.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/rank.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "match/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using WideRow = hn::CappedTag<std::int16_t, patch>;
using PairSums = hn::Repartition<std::int32_t, WideRow>;  // of pairs
constexpr int row_parts = patch / static_cast<int>(hn::MaxLanes(WideRow()));

HWY_INLINE hn::Vec<WideRow> load_wide(const std::int8_t* bytes) {
  return hn::PromoteTo(WideRow(), hn::LoadU(hn::Rebind<std::int8_t, WideRow>(), bytes));
}

/// A reference patch.
class WideReference {
 public:
  HWY_INLINE WideReference(const std::int8_t* at, std::ptrdiff_t stride) : stride_(stride) {
    for (int row = 0; row < patch; ++row)
      for (int i = 0; i < row_parts; ++i)
        hn::Store(load_wide(at + row * stride + i * patch / row_parts), WideRow(), part(row, i));
  }

  HWY_INLINE std::int32_t score(const std::int8_t* at) const {
    const PairSums d;
    auto sum = hn::Zero(d), more = sum;  // which pairs are in which is left to the target
#pragma GCC unroll 8
    for (int row = 0; row < patch; ++row)
      for (int i = 0; i < row_parts; ++i) {
        const auto difference = hn::Sub(hn::Load(WideRow(), part(row, i)),
                                        load_wide(at + row * stride_ + i * patch / row_parts));
        sum = hn::ReorderWidenMulAccumulate(d, difference, difference, sum, more);
      }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, more)));
  }

 private:
  HWY_INLINE std::int16_t* part(int row, int i) {
    return samples_ + row * patch + i * patch / row_parts;
  }
  HWY_INLINE const std::int16_t* part(int row, int i) const {
    return samples_ + row * patch + i * patch / row_parts;
  }

  std::ptrdiff_t stride_;
  alignas(64) std::int16_t samples_[patch * patch];
};

constexpr int member_bits = 5;
static_assert(1 << member_bits == max_group);

using MemberKeys = hn::CappedTag<std::int32_t, 16>;  // positive

/// Sorts keys, of which there is room for max_group.
HWY_INLINE void sort_keys(std::int32_t* keys, int count) {
  const MemberKeys d;
  const int width = static_cast<int>(hn::Lanes(d));
  alignas(64) std::int32_t ranks[max_group], before[max_group];
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

Group rank_members(const RankParams& params, const ByteGuides& guides,
                   const ByOffset<Motion>& motion, int x, int y, const Group& kept) {
  const std::ptrdiff_t stride = guides.stride, origin = y * stride + x;
  const WideReference reference(guides.frame[0] + origin, stride);
  alignas(64) std::int32_t keys[max_group] = {};
  int count = 0;
  for (int m = 1; m < kept.count; ++m) {
    const std::uint32_t member = kept.members[m];
    const int dx = displacement_x(member), dy = displacement_y(member);
    const int dt = displacement_t(member);
    std::int32_t score = reference.score(guides.frame[dt] + origin + dy * stride + dx);
    if (dt != 0 && dx == motion[dt].x && dy == motion[dt].y)
      score = std::max(0, score - params.bonus);
    if (score <= params.limit) keys[count++] = score << member_bits | m;
  }
  sort_keys(keys, count);
  Group group;
  group.count =
      std::min(params.group, static_cast<int>(std::bit_floor(static_cast<unsigned>(count + 1))));
  group.members[0] = pack_displacement(0, 0);
  for (int m = 1; m < group.count; ++m) group.members[m] = kept.members[keys[m - 1] % max_group];
  return group;
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
HWY_EXPORT(rank_members);
Group rank_members(const RankParams& params, const ByteGuides& guides,
                   const ByOffset<Motion>& motion, int x, int y, const Group& kept) {
  return HWY_DYNAMIC_DISPATCH(rank_members)(params, guides, motion, x, y, kept);
}
}  // namespace lull::cpu
#endif
