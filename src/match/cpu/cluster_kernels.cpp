// Clusters: which side of a cut patches lie on, how far they are from one, which are the nearest.
//
// A patch is one piece of memory (PatchStrips), so that a vector holds several columns of it; the
// sums of four patches are brought together at a time. The nearest are found by a bound that a few
// more than wanted meet, guessed from the reference patch before and narrowed by counting; those
// are then ranked by how many are nearer.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/cluster_kernels.cpp"
#include "match/cpu/cluster_kernels.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Halves = hn::CappedTag<std::int16_t, 16>;
using Sums32 = hn::RepartitionToWide<Halves>;
using Counts = hn::ScalableTag<std::int32_t>;
constexpr std::size_t lanes = hn::MaxLanes(Halves());

HWY_INLINE hn::Vec<Halves> samples_at(const std::uint8_t* samples) {
  return hn::PromoteTo(Halves(), hn::LoadU(hn::Rebind<std::uint8_t, Halves>(), samples));
}

/// The lanes of each vector added up, for four vectors.
HWY_INLINE void store_sums(const hn::Vec<Sums32>& a, const hn::Vec<Sums32>& b,
                           const hn::Vec<Sums32>& c, const hn::Vec<Sums32>& d, std::int32_t* to) {
  const Sums32 tag;
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
  to[0] = hn::GetLane(hn::SumOfLanes(tag, a)), to[1] = hn::GetLane(hn::SumOfLanes(tag, b));
  to[2] = hn::GetLane(hn::SumOfLanes(tag, c)), to[3] = hn::GetLane(hn::SumOfLanes(tag, d));
#else
  const hn::Repartition<std::int64_t, Sums32> pairs;
  const auto ab = hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b));
  const auto cd = hn::Add(hn::InterleaveLower(tag, c, d), hn::InterleaveUpper(tag, c, d));
  const auto left = hn::BitCast(pairs, ab), right = hn::BitCast(pairs, cd);
  const auto all = hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairs, left, right)),
                           hn::BitCast(tag, hn::InterleaveUpper(pairs, left, right)));
  if constexpr (hn::MaxLanes(tag) == 8) {
    const hn::Half<Sums32> half;
    hn::StoreU(hn::Add(hn::LowerHalf(half, all), hn::UpperHalf(half, all)), half, to);
  } else {
    hn::StoreU(all, tag, to);
  }
#endif
}

using Bytes = hn::Repartition<std::uint8_t, Halves>;
using SignedBytes = hn::Repartition<std::int8_t, Halves>;

/// Samples by weights, summed up in pairs: 2 * 255 * 63 has 15 bits and a sign.
HWY_INLINE hn::Vec<Halves> pair_products(const std::uint8_t* samples, const std::int8_t* weights) {
  const auto own = hn::LoadU(Bytes(), samples);
  const auto weight = hn::Load(SignedBytes(), weights);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::Vec<Halves>{_mm256_maddubs_epi16(own.raw, weight.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  return hn::Vec<Halves>{_mm_maddubs_epi16(own.raw, weight.raw)};
#else
  const hn::RebindToUnsigned<Halves> d;
  const auto pairs = hn::BitCast(d, own);
  const auto low = hn::BitCast(Halves(), hn::And(pairs, hn::Set(d, 0xff)));
  const auto high = hn::BitCast(Halves(), hn::ShiftRight<8>(pairs));
  const auto both = hn::BitCast(Halves(), weight);
  return hn::Add(hn::Mul(low, hn::ShiftRight<8>(hn::ShiftLeft<8>(both))),
                 hn::Mul(high, hn::ShiftRight<8>(both)));
#endif
}

/// The sum of weights by samples of a patch.
HWY_INLINE hn::Vec<Sums32> products(const std::uint8_t* samples, const std::int8_t* weights) {
  const auto ones = hn::Set(Halves(), 1);
  auto sum = hn::Zero(Sums32()), more = sum;
#pragma GCC unroll 4
  for (std::size_t k = 0; k < patch_samples; k += 2 * lanes)
    sum = hn::ReorderWidenMulAccumulate(Sums32(), pair_products(samples + k, weights + k), ones,
                                        sum, more);
  return hn::Add(sum, more);
}

}  // namespace

std::size_t divide_patches(const PatchStrips& strips, std::span<std::uint32_t> patches,
                           const Cut& cut, std::uint32_t* scratch) {
  alignas(64) std::int8_t weights[patch_samples];
  std::memcpy(weights, cut.weight.data(), sizeof weights);
  std::uint32_t* const all = patches.data();
  const std::size_t count = patches.size();
  std::size_t first = 0, second = 0;
  const auto divide_4 = [&](const std::uint32_t(&own)[4], std::size_t how_many) HWY_ATTR {
    const auto sums = [&](std::uint32_t number)
                          HWY_ATTR { return products(strips.patch_at(number), weights); };
    alignas(16) std::int32_t sum[4];
    store_sums(sums(own[0]), sums(own[1]), sums(own[2]), sums(own[3]), sum);
    for (std::size_t k = 0; k < how_many; ++k) {  // both are written, one of them counts
      const std::size_t in_second = sum[k] < cut.bound ? 1 : 0;
      all[first] = own[k];
      scratch[second] = own[k];
      first += 1 - in_second;
      second += in_second;
    }
  };
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) divide_4({all[i], all[i + 1], all[i + 2], all[i + 3]}, 4);
  if (i < count)
    divide_4(
        {all[i], all[std::min(i + 1, count - 1)], all[std::min(i + 2, count - 1)], all[count - 1]},
        count - i);
  std::copy_n(scratch, second, patches.data() + first);
  return first;
}

namespace {

/// How many distances are up to each of three bounds.
struct ThreeCounts {
  int within[3];
};
HWY_INLINE ThreeCounts count_within(const std::int32_t* distances, int count,
                                    const std::int32_t (&bounds)[3]) {
  const Counts d;
  const auto first = hn::Set(d, bounds[0]), second = hn::Set(d, bounds[1]),
             third = hn::Set(d, bounds[2]);
  auto a = hn::Zero(d), b = a, c = a;  // of those beyond
  const int width = static_cast<int>(hn::Lanes(d));
  int places = 0;
  for (; places < count; places += width) {
    const auto own = hn::LoadU(d, distances + places);
    a = hn::Add(a, hn::VecFromMask(d, hn::Gt(own, first)));
    b = hn::Add(b, hn::VecFromMask(d, hn::Gt(own, second)));
    c = hn::Add(c, hn::VecFromMask(d, hn::Gt(own, third)));
  }
  return {{places + hn::GetLane(hn::SumOfLanes(d, a)), places + hn::GetLane(hn::SumOfLanes(d, b)),
           places + hn::GetLane(hn::SumOfLanes(d, c))}};
}

/// A bound that at least `least` of the distances meet, and few more, as far as there is one; the
/// limit, if no more than that meet it. The distances are padded with ones beyond the limit.
HWY_INLINE std::int32_t bound_for(const std::int32_t* distances, int count, int least,
                                  const Nearest& nearest) {
  const int most = least + 8;
  const std::int32_t guess = std::clamp(nearest.likely, 0, nearest.limit);
  std::int32_t bounds[3] = {guess - guess / 8, guess + guess / 16, nearest.limit};
  std::int32_t low = -1, high = nearest.limit;
  for (bool first = true;; first = false) {
    const ThreeCounts counts = count_within(distances, count, bounds);
    if (first && counts.within[2] <= most) return high;
    for (int k = 0; k < 3; ++k) {
      if (counts.within[k] < least) low = std::max(low, bounds[k]);
      if (counts.within[k] > most) high = std::min(high, bounds[k]);
      if (counts.within[k] >= least && counts.within[k] <= most) return bounds[k];
    }
    if (high - low <= 1) return high;
    const std::int32_t part = (high - low) / 4;
    // Far from the guess on one side: not so far at first.
    const std::int32_t near = first ? std::min(part, guess / 8 + 1) : part;
    const bool upwards = low >= bounds[1];
    for (int k = 0; k < 3; ++k)
      bounds[k] = upwards ? low + std::max(1, (k + 1) * near) : high - std::max(1, (3 - k) * near);
    for (std::int32_t& bound : bounds) bound = std::clamp(bound, low + 1, high);
  }
}

/// Those within the bound, as places. Few branches, because these would be unpredictable.
HWY_INLINE int collect(const std::int32_t* distances, int count, std::int32_t bound,
                       std::int32_t* places) {
  const Counts d;
  const auto over = hn::Set(d, bound + 1);
  const int width = static_cast<int>(hn::Lanes(d));
  int found = 0;
  for (int i = 0; i < count; i += width) {
    const auto within = hn::Lt(hn::LoadU(d, distances + i), over);
    alignas(8) std::uint8_t raw[8] = {};
    hn::StoreMaskBits(d, within, raw);
    std::uint32_t bits;
    std::memcpy(&bits, raw, sizeof bits);
    const int hits = std::popcount(bits);
    for (int n = 0; n < 3; ++n) {  // those beyond `hits` are overwritten
      places[found + n] = i + (std::countr_zero(bits) & 31);
      bits &= bits - 1;
    }
    for (int n = 3; bits != 0; ++n) {
      places[found + n] = i + std::countr_zero(bits);
      bits &= bits - 1;
    }
    found += hits;
  }
  return found;
}

constexpr int ranked_at_once = 64;

/// Orders up to 64 places by their distances, then as they are. `order`: where each one goes.
HWY_INLINE void rank(const std::int32_t* distances, const std::int32_t* places, int count,
                     std::int32_t* order) {
  const Counts d;
  const int width = static_cast<int>(hn::Lanes(d));
  alignas(64) std::int32_t keys[ranked_at_once + 64], ranks[ranked_at_once + 64];
  for (int i = 0; i < count; ++i) keys[i] = distances[places[i]] << 6 | i;
  for (int i = count; i < count + width; ++i) keys[i] = std::numeric_limits<std::int32_t>::max();
  for (int j = 0; j < count; j += width) {
    const auto own = hn::Load(d, keys + j);
    auto below = hn::Zero(d);
    for (int i = 0; i < count; ++i)
      below = hn::Sub(below, hn::VecFromMask(d, hn::Lt(hn::Set(d, keys[i]), own)));
    hn::Store(below, d, ranks + j);
  }
  for (int i = 0; i < count; ++i) order[ranks[i]] = places[i];
}

}  // namespace

void patch_distances(const PatchStrips& strips, std::uint32_t own, const std::uint32_t* patches,
                     int count, std::int32_t* distances) {
  hn::Vec<Halves> reference[patch_samples / lanes];
  for (std::size_t k = 0; k < patch_samples / lanes; ++k)
    reference[k] = samples_at(strips.patch_at(own) + k * lanes);
  const auto squares = [&](int i) HWY_ATTR {
    const std::uint8_t* const at = strips.patch_at(patches[std::min(i, count - 1)]);
    auto sum = hn::Zero(Sums32()), more = sum;
#pragma GCC unroll 8
    for (std::size_t k = 0; k < patch_samples / lanes; ++k) {
      const auto difference = hn::Sub(samples_at(at + k * lanes), reference[k]);
      sum = hn::ReorderWidenMulAccumulate(Sums32(), difference, difference, sum, more);
    }
    return hn::Add(sum, more);
  };
  for (int i = 0; i < count; i += 4)
    store_sums(squares(i), squares(i + 1), squares(i + 2), squares(i + 3), distances + i);
}

void find_nearest(const std::uint32_t* patches, std::int32_t* distances, int count,
                  Nearest& nearest) {
  std::fill_n(distances + count, 32, std::numeric_limits<std::int32_t>::max());
  const std::int32_t bound = bound_for(distances, count, nearest.wanted, nearest);
  std::int32_t places[candidate_places], order[candidate_places];
  const int found = collect(distances, count, bound, places);
  const auto is_before = [&](std::int32_t a, std::int32_t b) {
    return distances[a] != distances[b] ? distances[a] < distances[b] : patches[a] < patches[b];
  };
  if (found <= ranked_at_once) {
    rank(distances, places, found, order);
    for (int i = 1; i < found; ++i)  // where distances are equal
      for (int k = i; k > 0 && is_before(order[k], order[k - 1]); --k)
        std::swap(order[k], order[k - 1]);
  } else {
    std::copy_n(places, found, order);
    std::sort(order, order + found, is_before);
  }
  nearest.count = std::min(found, nearest.wanted);
  for (int i = 0; i < nearest.count; ++i) nearest.patches[i] = patches[order[i]];
  nearest.likely = bound;
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
HWY_EXPORT(divide_patches);
HWY_EXPORT(patch_distances);
HWY_EXPORT(find_nearest);

std::size_t divide_patches(const PatchStrips& strips, std::span<std::uint32_t> patches,
                           const Cut& cut, std::uint32_t* scratch) {
  return HWY_DYNAMIC_DISPATCH(divide_patches)(strips, patches, cut, scratch);
}
void patch_distances(const PatchStrips& strips, std::uint32_t own, const std::uint32_t* patches,
                     int count, std::int32_t* distances) {
  HWY_DYNAMIC_DISPATCH(patch_distances)(strips, own, patches, count, distances);
}
void find_nearest(const std::uint32_t* patches, std::int32_t* distances, int count,
                  Nearest& nearest) {
  HWY_DYNAMIC_DISPATCH(find_nearest)(patches, distances, count, nearest);
}
}  // namespace lull::cpu
#endif
