// Squared differences of pairs of bytes. The compiler reads this file once for each instruction set
// (Highway's foreach_target.h).

#if defined(LULL_MATCH_CPU_SQUARES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LULL_MATCH_CPU_SQUARES_H
#undef LULL_MATCH_CPU_SQUARES_H
#else
#define LULL_MATCH_CPU_SQUARES_H
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<hn::Repartition<std::int8_t, D>> load_bytes(D, const std::uint16_t* pairs) {
  return hn::LoadU(hn::Repartition<std::int8_t, D>(), reinterpret_cast<const std::int8_t*>(pairs));
}

/// Returns d0^2 + d1^2 for the differences d0 and d1 of each pair of bytes, saturated to -128..127.
/// If a difference is -128, the result is a large value instead of the exact sum.
template <class D>
HWY_INLINE hn::Vec<D> squared_pairs(D lanes, hn::Vec<hn::Repartition<std::int8_t, D>> a,
                                    const std::uint16_t* b) {
  const auto d = hn::Abs(hn::SaturatedSub(a, load_bytes(lanes, b)));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(lanes) == 32) return hn::Vec<D>{_mm512_maddubs_epi16(d.raw, d.raw)};
#endif
#if HWY_TARGET <= HWY_AVX2
  if constexpr (hn::MaxLanes(lanes) == 16) return hn::Vec<D>{_mm256_maddubs_epi16(d.raw, d.raw)};
#endif
  if constexpr (hn::MaxLanes(lanes) == 8) return hn::Vec<D>{_mm_maddubs_epi16(d.raw, d.raw)};
#else
  const auto pair = hn::BitCast(lanes, d);
  const auto low = hn::And(pair, hn::Set(lanes, 0xff));
  const auto high = hn::ShiftRight<8>(pair);
  return hn::Add(hn::Mul(low, low), hn::Mul(high, high));
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#endif
