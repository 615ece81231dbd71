#pragma once
// Selects the members of a group from the keys of all candidates (linear/params.h), with one warp.

#include <cstdint>

#include "cuda/warp.cuh"
#include "linear/cuda/kernels.h"

namespace lull::linear {

/// Key of a candidate that cannot become a member of the group.
constexpr std::uint32_t no_key = ~0u;

/// Returns a bound for the keys. Of `total` keys, exactly `wanted` keys are less than or equal to
/// the bound. If fewer than `wanted` keys are valid, all valid keys are
/// less than or equal to the bound.
__device__ __forceinline__ std::uint32_t find_limit(const std::uint32_t* keys, int total,
                                                    int wanted) {
  const int lane = threadIdx.x % 32;
  // A binary search finds the bound, and needs an upper limit. `wanted` is at most 64, so the
  // maximum of any 64 keys is an upper limit. To obtain a low limit, the code chooses the two
  // smallest keys of each of the 32 lanes as the 64 keys.
  std::uint32_t smallest = no_key, second = no_key;
  for (int n = lane; n < total; n += 32) {
    const std::uint32_t key = keys[n];
    second = min(second, max(key, smallest));
    smallest = min(smallest, key);
  }
  std::uint32_t low = 0, high = min(warp_max(second), no_key - 1);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    int count = 0;
    for (int n = lane; n < total; n += 32) count += keys[n] <= middle ? 1 : 0;
    count = warp_sum(count);
    if (count == wanted) return middle;
    if (count < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Writes the members of the group of reference patch `reference`: the candidates with the smallest
/// keys, in raster order. `total` is the number of keys, and must be a multiple of 32.
__device__ __forceinline__ void write_members(const DeviceGroups& groups, std::size_t reference,
                                              const std::uint32_t* keys, int total) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t limit = find_limit(keys, total, groups.sizes.group);
  std::uint16_t* const members = groups.members + reference * groups.sizes.group;
  int count = 0;
  for (int m = lane; m < total; m += 32) {
    const std::uint32_t key = keys[m];
    const bool is_member = key <= limit;
    const unsigned found = __ballot_sync(~0u, is_member);
    const int place = count + __popc(found & ((1u << lane) - 1));
    if (is_member && place < groups.sizes.group)
      members[place] = static_cast<std::uint16_t>(key & ((1u << index_bits) - 1));
    count += __popc(found);
  }
  if (lane == 0)
    groups.counts[reference] = static_cast<std::uint8_t>(min(count, groups.sizes.group));
  __syncwarp();
}

}  // namespace lull::linear
