#pragma once
// Reads patches in device memory by words of four samples.

#include "match/cuda/kernels_clusters.h"

namespace lull::match_detail {

__device__ __forceinline__ int place_of(std::uint32_t patch_id) {
  return static_cast<int>(patch_id & (max_patch_positions - 1));
}
__device__ __forceinline__ int frame_of(std::uint32_t patch_id) {
  return static_cast<int>(patch_id >> patch_frame_bit);
}

/// Returns the 8 samples at an aligned or unaligned position, as two words.
__device__ __forceinline__ uint2 words_at(const std::uint8_t* samples, int place) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(samples + (place & ~3));
  const std::uint32_t middle = words[1];
  const int bits = 8 * (place & 3);
  return {__funnelshift_r(words[0], middle, bits), __funnelshift_r(middle, words[2], bits)};
}

/// Returns word `k` of the 16 words (half rows) of an 8x8 patch.
__device__ __forceinline__ std::uint32_t patch_word(const std::uint8_t* guide, int place, int pitch,
                                                    int k) {
  const uint2 row = words_at(guide, place + (k >> 1) * pitch);
  return (k & 1) != 0 ? row.y : row.x;
}

}  // namespace lull::match_detail
