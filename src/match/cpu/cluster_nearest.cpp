// Selects the nearest members of the clusters of a reference patch. Sorting networks sort 32 keys
// (distance and list index) at a time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/cluster_nearest.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "match/cpu/cluster_kernels.h"
#include "match/cpu/cluster_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

// ---- Sorting networks ----------------------------------------------------------------------

/// A key consists of a distance and, in the 8 lowest bits, the list index of the candidate.
using Key = std::int32_t;
using Keys = Sums;
using KeyVector = hn::Vec<Keys>;
constexpr int key_lanes = sum_lanes, place_bits = 8;
constexpr Key no_key = std::numeric_limits<Key>::max();
constexpr int sorted_at_once = 32, batch_vectors = sorted_at_once / key_lanes;

HWY_INLINE void exchange(KeyVector& less, KeyVector& more) {
  const auto least = hn::Min(less, more);
  more = hn::Max(less, more);
  less = least;
}

/// Sorts the lanes of a vector that contains a bitonic sequence.
HWY_INLINE KeyVector sort_bitonic(KeyVector v) {
  const Keys d;
  if constexpr (key_lanes == 8) {
    const auto other = hn::ConcatLowerUpper(d, v, v);
    v = hn::ConcatUpperLower(d, hn::Max(v, other), hn::Min(v, other));
  }
  const auto across = hn::Shuffle1032(v);
  const hn::Repartition<std::int64_t, Keys> pairs;
  v = hn::BitCast(d, hn::OddEven(hn::BitCast(pairs, hn::Max(v, across)),
                                 hn::BitCast(pairs, hn::Min(v, across))));
  const auto beside = hn::Shuffle2301(v);
  return hn::OddEven(hn::Max(v, beside), hn::Min(v, beside));
}

/// Sorts a bitonic sequence in `count` consecutive vectors.
template <int count>
HWY_INLINE void sort_bitonic(KeyVector* v) {
  if constexpr (count == 1) {
    *v = sort_bitonic(*v);
  } else {
    for (int i = 0; i < count / 2; ++i) exchange(v[i], v[i + count / 2]);
    sort_bitonic<count / 2>(v);
    sort_bitonic<count / 2>(v + count / 2);
  }
}

/// Splits the values of two sorted runs of `count` vectors each. `a` receives the smaller half of
/// the values, `b` the larger half. Each half is a bitonic sequence.
template <int count>
HWY_INLINE void split_runs(KeyVector* a, KeyVector* b) {
  KeyVector other[count];
  for (int i = 0; i < count; ++i) other[i] = hn::Reverse(Keys(), b[count - 1 - i]);
  for (int i = 0; i < count; ++i) {
    b[i] = hn::Max(a[i], other[i]);
    a[i] = hn::Min(a[i], other[i]);
  }
}

/// Merges two sorted runs of `count` vectors each.
template <int count>
HWY_INLINE void merge_runs(KeyVector* v) {
  split_runs<count>(v, v + count);
  sort_bitonic<count>(v);
  sort_bitonic<count>(v + count);
}

/// Writes the smaller half of the values of two sorted runs to `a`, in ascending order.
template <int count>
HWY_INLINE void keep_least(KeyVector* a, KeyVector* b) {
  split_runs<count>(a, b);
  sort_bitonic<count>(a);
}

/// Sorts 4 vectors lane by lane, ascending from v[0] to v[3], and transposes each 4x4 block of
/// lanes.
HWY_INLINE void sort_columns(KeyVector* v) {
  exchange(v[0], v[1]), exchange(v[2], v[3]);
  exchange(v[0], v[2]), exchange(v[1], v[3]);
  exchange(v[1], v[2]);
  const Keys d;
  const hn::Repartition<std::int64_t, Keys> pairs;
  const auto pair = [&](KeyVector a) HWY_ATTR { return hn::BitCast(pairs, a); };
  const auto a = pair(hn::InterleaveLower(d, v[0], v[1])),
             b = pair(hn::InterleaveLower(d, v[2], v[3]));
  const auto e = pair(hn::InterleaveUpper(d, v[0], v[1])),
             f = pair(hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, a, b));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, a, b));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, e, f));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, e, f));
}

/// Sorts 32 keys into two sorted runs of 16 keys each.
HWY_INLINE void sort_halves(KeyVector* v) {
  const Keys d;
  for (int i = 0; i < batch_vectors; i += 4) sort_columns(v + i);
  if constexpr (key_lanes == 8) {
    for (int i = 0; i < batch_vectors; ++i)
      v[i] = sort_bitonic(hn::ConcatUpperLower(d, hn::Shuffle0123(v[i]), v[i]));
  } else {
    for (int i = 0; i < batch_vectors; i += 2) merge_runs<1>(v + i);
  }
  constexpr int eight = 8 / key_lanes;
  for (int i = 0; i < batch_vectors; i += 2 * eight) merge_runs<eight>(v + i);
}

/// Finds the 16 or 32 smallest keys (`wanted`), in ascending order. `count` is the number of all
/// keys, a multiple of 32.
template <int wanted>
HWY_INLINE void sort_least(const Key* keys, int count, Key* least) {
  const Keys d;
  constexpr int vectors = wanted / key_lanes, half = batch_vectors / 2;
  KeyVector best[vectors];
  for (int from = 0; from < count; from += sorted_at_once) {
    KeyVector v[batch_vectors];
    for (int i = 0; i < batch_vectors; ++i) v[i] = hn::Load(d, keys + from + i * key_lanes);
    sort_halves(v);
    if constexpr (wanted == 16)
      keep_least<half>(v, v + half);
    else
      merge_runs<half>(v);
    if (from == 0)
      std::copy_n(v, vectors, best);
    else
      keep_least<vectors>(best, v);
  }
  for (int i = 0; i < vectors; ++i) hn::Store(best[i], d, least + i * key_lanes);
}

// ---- selection -----------------------------------------------------------------------------

/// Converts distances to keys. The key of a distance above `limit` is `no_key`. Returns the number
/// of keys, which is `count` rounded up to a multiple of 32 and at least 32.
HWY_INLINE int make_keys(const std::int32_t* distances, int count, std::int32_t limit, Key* keys) {
  const Keys d;
  const auto most = hn::Set(d, limit), none = hn::Set(d, no_key);
  auto place = hn::Iota(d, 0);
  const int all = (std::max(count, 1) + sorted_at_once - 1) / sorted_at_once * sorted_at_once;
  for (int i = 0; i < all; i += key_lanes) {
    const auto own = hn::LoadU(d, distances + i);
    const auto key = hn::Or(hn::ShiftLeft<place_bits>(own), place);
    hn::Store(hn::IfThenElse(hn::Gt(own, most), none, key), d, keys + i);
    place = hn::Add(place, hn::Set(d, key_lanes));
  }
  return all;
}

constexpr std::int32_t distance_of(Key key) { return key >> place_bits; }

/// Sorts patches at equal distance by patch index. Before the call, these patches are sorted by
/// list index.
HWY_INLINE void order_equals(const Key* keys, std::uint32_t* patches, int count) {
  for (int i = 1; i < count; ++i)
    for (int k = i;
         k > 0 && distance_of(keys[i]) == distance_of(keys[k - 1]) && patches[k] < patches[k - 1];
         --k)
      std::swap(patches[k], patches[k - 1]);
}

/// Fills `to` with the indices of patches at the given distance, in ascending order. If there are
/// more such patches than elements in `to`, the function selects the smallest indices.
void fill_with_equals(const std::uint32_t* patches, const std::int32_t* distances, int count,
                      std::int32_t distance, std::span<std::uint32_t> to) {
  std::uint32_t equals[candidate_places];
  int found = 0;
  for (int i = 0; i < count; ++i) {
    equals[found] = patches[i];
    found += distances[i] == distance ? 1 : 0;
  }
  std::partial_sort(equals, equals + to.size(), equals + found);
  std::ranges::copy_n(equals, static_cast<std::ptrdiff_t>(to.size()), to.begin());
}

/// Selects the nearest candidates from a list that is too long for sorting by keys, because a key
/// has only 8 bits for the list index. The function sorts the list indices instead.
void sort_all(const std::uint32_t* patches, const std::int32_t* distances, int count,
              Nearest& nearest) {
  int order[candidate_places], within = 0;
  for (int i = 0; i < count; ++i)
    if (distances[i] <= nearest.limit) order[within++] = i;
  nearest.count = std::min(within, nearest.wanted);
  std::partial_sort(order, order + nearest.count, order + within, [&](int a, int b) {
    return distances[a] != distances[b] ? distances[a] < distances[b] : patches[a] < patches[b];
  });
  for (int i = 0; i < nearest.count; ++i) nearest.patches[i] = patches[order[i]];
}

}  // namespace

void find_nearest(const std::uint32_t* patches, std::int32_t* distances, int count,
                  Nearest& nearest) {
  if (count > 1 << place_bits) return sort_all(patches, distances, count, nearest);
  std::fill_n(distances + count, sorted_at_once, std::numeric_limits<std::int32_t>::max());
  alignas(64) Key keys[1 << place_bits], least[max_group];
  const int all = make_keys(distances, count, nearest.limit, keys);
  const int kept = nearest.wanted < 16 ? 16 : 32;  // > wanted
  if (kept == 16)
    sort_least<16>(keys, all, least);
  else
    sort_least<32>(keys, all, least);
  const int found = static_cast<int>(std::lower_bound(least, least + kept, no_key) - least);
  const int wanted = nearest.count = std::min(found, nearest.wanted);
  for (int i = 0; i < wanted; ++i) nearest.patches[i] = patches[least[i] & ((1 << place_bits) - 1)];
  int in_order = wanted;
  if (found > wanted && wanted > 0 &&
      distance_of(least[wanted]) == distance_of(least[wanted - 1])) {
    const std::int32_t last = distance_of(least[wanted]);
    while (in_order > 0 && distance_of(least[in_order - 1]) == last) --in_order;
    fill_with_equals(patches, distances, count, last,
                     {&nearest.patches[in_order], static_cast<std::size_t>(wanted - in_order)});
  }
  order_equals(least, nearest.patches.data(), in_order);
}

// ---- Candidates ----------------------------------------------------------------------------

int list_candidates(std::span<const LeafView> leaves, std::uint32_t own,
                    std::uint32_t* candidates) {
  const Numbers d;
  const auto itself = hn::Set(d, own);
  std::uint32_t* to = candidates;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const LeafView& leaf = leaves[k];
    for (int i = 0; i < leaf.count; i += sum_lanes) {
      const auto number = hn::LoadU(d, leaf.members + i);
      auto is_new = hn::And(hn::FirstN(d, leaf.count - i), hn::Ne(number, itself));
      for (std::size_t earlier = 0; earlier < k; ++earlier)
        is_new = hn::And(is_new, hn::Ne(hn::LoadU(d, leaf.earlier[earlier] + i),
                                        hn::Set(d, leaves[earlier].leaf_id)));
      const unsigned kept = bits_of(d, is_new);
      hn::StoreU(move_to_front(number, kept), d, to);
      to += std::popcount(kept);
    }
  }
  return static_cast<int>(to - candidates);
}

void patch_distances(const PatchStrips& strips, std::uint32_t own, const std::uint32_t* patches,
                     int count, std::int32_t* distances) {
  constexpr int parts = patch_samples / half_lanes;
  hn::Vec<Halves> reference[parts];
  for (int k = 0; k < parts; ++k) reference[k] = samples_at(strips, own, k * half_lanes);
  for (int from = 0; from < count; from += sum_lanes)
    hn::StoreU(sums_of([&](int i) HWY_ATTR {
                 auto sum = hn::Zero(Sums()), more = sum;
#pragma GCC unroll 8
                 for (int k = 0; k < parts; ++k) {
                   const auto difference =
                       hn::Sub(samples_at(strips, patches[from + i], k * half_lanes), reference[k]);
                   sum = hn::ReorderWidenMulAccumulate(Sums(), difference, difference, sum, more);
                 }
                 return hn::Add(sum, more);
               }),
               Sums(), distances + from);
}

void pack_displacements(std::uint32_t own, int row, const std::uint32_t* patches, int count,
                        std::uint32_t* packed) {
  const Sums d;
  const hn::Rebind<float, Sums> reals;
  const auto inverse = hn::Set(reals, 1 / static_cast<float>(row));
  const auto rows = hn::Set(d, row), bits = hn::Set(d, 0xfff);
  for (int i = 0; i < count; i += sum_lanes) {
    const auto away =
        hn::BitCast(d, hn::Sub(hn::LoadU(Numbers(), patches + i), hn::Set(Numbers(), own)));
    // The function computes the displacement (x, y) of a member. The index of the member minus the
    // index of the reference patch is y * rows + x, and |x| is less than half of `rows`. y is
    // therefore this difference divided by `rows`, rounded to the nearest integer.
    const auto y = hn::NearestInt(hn::Mul(hn::ConvertTo(reals, away), inverse));
    const auto x = hn::Sub(away, hn::Mul(y, rows));
    const auto both = hn::Or(hn::ShiftLeft<12>(hn::And(y, bits)), hn::And(x, bits));
    hn::StoreU(hn::BitCast(Numbers(), both), Numbers(), packed + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
HWY_EXPORT(list_candidates);
HWY_EXPORT(patch_distances);
HWY_EXPORT(find_nearest);
HWY_EXPORT(pack_displacements);
int list_candidates(std::span<const LeafView> leaves, std::uint32_t own,
                    std::uint32_t* candidates) {
  return HWY_DYNAMIC_DISPATCH(list_candidates)(leaves, own, candidates);
}
void patch_distances(const PatchStrips& strips, std::uint32_t own, const std::uint32_t* patches,
                     int count, std::int32_t* distances) {
  HWY_DYNAMIC_DISPATCH(patch_distances)(strips, own, patches, count, distances);
}
void find_nearest(const std::uint32_t* patches, std::int32_t* distances, int count,
                  Nearest& nearest) {
  HWY_DYNAMIC_DISPATCH(find_nearest)(patches, distances, count, nearest);
}
void pack_displacements(std::uint32_t own, int row, const std::uint32_t* patches, int count,
                        std::uint32_t* packed) {
  HWY_DYNAMIC_DISPATCH(pack_displacements)(own, row, patches, count, packed);
}
}  // namespace lull::cpu
#endif
