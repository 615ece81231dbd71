// Vector functions of clustered matching. The compiler reads this file once for each instruction
// set (Highway's foreach_target.h).

#if defined(LULL_MATCH_CPU_CLUSTER_VECTORS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LULL_MATCH_CPU_CLUSTER_VECTORS_H
#undef LULL_MATCH_CPU_CLUSTER_VECTORS_H
#else
#define LULL_MATCH_CPU_CLUSTER_VECTORS_H
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "match/cpu/cluster_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Halves = hn::CappedTag<std::int16_t, 16>;
using Sums = hn::RepartitionToWide<Halves>;
using Numbers = hn::RebindToUnsigned<Sums>;
using Bytes = hn::Repartition<std::uint8_t, Halves>;
constexpr int half_lanes = hn::MaxLanes(Halves());
/// Number of patches that the kernels process at once: 4 or 8.
constexpr int sum_lanes = hn::MaxLanes(Sums());

/// Returns the address of sample `k` of a patch. The upper four rows of a patch are contiguous in
/// memory, and so are the lower four rows.
HWY_INLINE const std::uint8_t* sample_at(const PatchStrips& strips, std::uint32_t number, int k) {
  constexpr int half = patch_samples / 2;
  return k < half ? strips.upper(number) + k : strips.lower(number) + (k - half);
}

HWY_INLINE hn::Vec<Halves> samples_at(const PatchStrips& strips, std::uint32_t number, int k) {
  return hn::PromoteTo(Halves(),
                       hn::LoadU(hn::Rebind<std::uint8_t, Halves>(), sample_at(strips, number, k)));
}

/// Returns four sums for each block of four lanes: the sums of a, b, c and d over the block.
HWY_INLINE hn::Vec<Sums> sums_by_block(hn::Vec<Sums> a, hn::Vec<Sums> b, hn::Vec<Sums> c,
                                       hn::Vec<Sums> d) {
  const Sums tag;
  const hn::Repartition<std::int64_t, Sums> pairs;
  const auto ab = hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b));
  const auto cd = hn::Add(hn::InterleaveLower(tag, c, d), hn::InterleaveUpper(tag, c, d));
  const auto left = hn::BitCast(pairs, ab), right = hn::BitCast(pairs, cd);
  return hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairs, left, right)),
                 hn::BitCast(tag, hn::InterleaveUpper(pairs, left, right)));
}

/// Returns a vector whose lane i is the sum over the lanes of vector(i).
template <class F>
HWY_INLINE hn::Vec<Sums> sums_of(const F& vector) {
  const auto first = sums_by_block(vector(0), vector(1), vector(2), vector(3));
  if constexpr (sum_lanes == 4) {
    return first;
  } else {
    const Sums d;
    const auto second = sums_by_block(vector(4), vector(5), vector(6), vector(7));
    return hn::Add(hn::ConcatLowerLower(d, second, first), hn::ConcatUpperUpper(d, second, first));
  }
}

/// For each bit mask of lanes, the stable permutation that moves the masked lanes to the front.
struct LaneOrders {
  alignas(8) std::uint8_t of[1 << sum_lanes][sum_lanes] = {};
  constexpr LaneOrders() {
    for (int bits = 0; bits < 1 << sum_lanes; ++bits)
      for (int pass = 0, to = 0; pass < 2; ++pass)
        for (int lane = 0; lane < sum_lanes; ++lane)
          if ((bits >> lane & 1) != pass) of[bits][to++] = static_cast<std::uint8_t>(lane);
  }
};
// This table replaces hn::Compress(), because compilers copy the table of hn::Compress() at every
// call.
constexpr LaneOrders lane_orders;

/// Moves the lanes that the bit mask `lanes` selects to the front, in stable order.
HWY_INLINE hn::Vec<Numbers> move_to_front(hn::Vec<Numbers> v, unsigned lanes) {
  const Numbers d;
  const hn::Rebind<std::uint8_t, Numbers> bytes;
  const auto order = hn::PromoteTo(d, hn::LoadU(bytes, lane_orders.of[lanes]));
  return hn::TableLookupLanes(v, hn::IndicesFromVec(d, order));
}

template <class Mask>
HWY_INLINE unsigned bits_of(Numbers d, Mask mask) {
  alignas(8) std::uint8_t bits[8];
  hn::StoreMaskBits(d, mask, bits);
  return bits[0];
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#endif
