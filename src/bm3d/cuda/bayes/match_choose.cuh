#pragma once
// Selects the group of a reference patch from the distances in shared memory, with one warp.

#include <cstdint>

#include "bm3d/cuda/bayes/match_layout.h"
#include "cuda/warp.cuh"

namespace lull::bm3d {

constexpr int max_chosen = 64;

/// Calls use(distance, candidate index) for each distance of this lane. `count` is a multiple of
/// 128.
template <class Use>
__device__ __forceinline__ void for_own(const std::uint32_t* distances, int count, Use use) {
  const int lane = threadIdx.x % 32;
#pragma unroll 7
  for (int n = 4 * lane; n < count; n += 128) {
    const uint4 four = *reinterpret_cast<const uint4*>(distances + n);
    use(four.x, n), use(four.y, n + 1), use(four.z, n + 2), use(four.w, n + 3);
  }
}

/// Returns 1 if a < b, and 0 if not. Both numbers must be below 2^31.
__device__ __forceinline__ int is_less(std::uint32_t a, std::uint32_t b) {
  return static_cast<int>((a - b) >> 31);
}

/// A bound that selects the `wanted` smallest distances. If has_surplus is false, exactly `wanted`
/// distances are at most `value`. If has_surplus is true, fewer than `wanted` distances are below
/// `value`, and at least `wanted` distances are at most `value`.
struct Bound {
  std::uint32_t value = 0;
  int wanted = 0;
  bool has_surplus = false;
};

__device__ inline Bound find_bound(const std::uint32_t* distances, int count, int most) {
  // The two smallest distances of this lane.
  std::uint32_t least = no_distance, second = no_distance;
  int found = 0;
  for_own(distances, count, [&](std::uint32_t d, int) {
    second = min(second, max(least, d)), least = min(least, d);
    found += is_less(d, infinite);
  });
  Bound bound{.wanted = min(warp_sum(found), most)};
  if (bound.wanted == 0) return bound;
  // A binary search finds the bound between `low` and `high`. If `wanted` is at most 32, `high` is
  // the maximum over all lanes of the smallest distance of a lane. If `wanted` is above 32, `high`
  // is the maximum over all lanes of the second smallest distance of a lane.
  std::uint32_t low = warp_min(least);
  std::uint32_t high = min(warp_max(bound.wanted <= 32 ? least : second), infinite - 1);
  bound.has_surplus = true;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    int here = 0;
    for_own(distances, count, [&](std::uint32_t d, int) { here += is_less(d, middle + 1); });
    here = warp_sum(here);
    if (here == bound.wanted) {
      bound.value = middle, bound.has_surplus = false;
      return bound;
    }
    if (here > bound.wanted)
      high = middle;
    else
      low = middle + 1;
  }
  bound.value = low;
  return bound;
}

constexpr unsigned long long key_of(std::uint32_t distance, int number) {
  return static_cast<unsigned long long>(distance) << 32 | static_cast<unsigned>(number);
}

/// Writes the candidates below the bound, and then the first candidates at the bound, up to
/// `wanted` in all, as words of distance (upper half) and candidate index (lower half).
__device__ inline void choose_first(const std::uint32_t* distances, int count, const Bound& bound,
                                    unsigned long long* chosen) {
  const int lane = threadIdx.x % 32;
  const unsigned before = (1u << lane) - 1;
  int less = 0;
  for_own(distances, count, [&](std::uint32_t d, int) { less += is_less(d, bound.value); });
  int equal = bound.wanted - warp_sum(less), placed = 0;
  for (int n = lane; n < count; n += 32) {
    const std::uint32_t distance = distances[n];
    const unsigned ties = __ballot_sync(~0u, distance == bound.value);
    const bool taken =
        distance < bound.value || (distance == bound.value && __popc(ties & before) < equal);
    equal -= __popc(ties);
    const unsigned all = __ballot_sync(~0u, taken);
    if (taken) chosen[placed + __popc(all & before)] = key_of(distance, n);
    placed += __popc(all);
  }
}

/// Writes all candidates whose distances are at most the bound. Exactly Bound::wanted candidates
/// must satisfy this condition.
__device__ inline void choose_all(const std::uint32_t* distances, int count, const Bound& bound,
                                  unsigned long long* chosen) {
  const int lane = threadIdx.x % 32;
  int own = 0;
  for_own(distances, count, [&](std::uint32_t d, int) { own += is_less(d, bound.value + 1); });
  int behind = own;
#pragma unroll
  for (int j = 1; j < 32; j *= 2) {
    const int other = __shfl_sync(~0u, behind, lane - j);
    if (lane >= j) behind += other;
  }
  unsigned long long* place = chosen + behind - own;
  for_own(distances, count, [&](std::uint32_t d, int n) {
    if (d <= bound.value) *place++ = key_of(d, n);
  });
}

__device__ __forceinline__ int is_before(unsigned long long a, unsigned long long b) {
  return static_cast<int>(static_cast<unsigned>((a - b) >> 32) >> 31);
}

/// Calls use(rank, candidate index) for each selected candidate. Rank 0 has the smallest distance.
template <class Use>
__device__ inline void for_each_ranked(const unsigned long long* chosen, int count, Use use) {
  const int lane = threadIdx.x % 32;
  unsigned long long key[2];
  int rank[2] = {};
#pragma unroll
  for (int h = 0; h < 2; ++h) key[h] = lane + 32 * h < count ? chosen[lane + 32 * h] : 0;
  if (count <= 32) {
#pragma unroll 4
    for (int n = 0; n < count; ++n) rank[0] += is_before(chosen[n], key[0]);
  } else {
#pragma unroll 4
    for (int n = 0; n < count; ++n) {
      const unsigned long long other = chosen[n];
      rank[0] += is_before(other, key[0]);
      rank[1] += is_before(other, key[1]);
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h)
    if (lane + 32 * h < count) use(rank[h], static_cast<int>(key[h] & 0xffffffffu));
}

}  // namespace lull::bm3d
