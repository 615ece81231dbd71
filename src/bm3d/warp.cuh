#pragma once
// What a warp does as one: sorting networks, and products on the tensor cores.

#include <cuda_fp16.h>

#include <cstdint>

namespace lull::bm3d {

/// Sorts one value a lane, greatest in lane 0: a bitonic network.
__device__ __forceinline__ std::uint32_t sort_descending(std::uint32_t v, int lane) {
#pragma unroll
  for (int k = 2; k <= 32; k <<= 1) {
#pragma unroll
    for (int j = k >> 1; j > 0; j >>= 1) {
      const std::uint32_t other = __shfl_xor_sync(~0u, v, j);
      const bool keeps_greater = ((lane & k) != 0) == ((lane & j) != 0);
      v = keeps_greater ? max(v, other) : min(v, other);
    }
  }
  return v;
}

/// The last stage of the same network: sorts a sequence that is bitonic already.
__device__ __forceinline__ std::uint32_t merge_descending(std::uint32_t v, int lane) {
#pragma unroll
  for (int j = 16; j > 0; j >>= 1) {
    const std::uint32_t other = __shfl_xor_sync(~0u, v, j);
    v = (lane & j) == 0 ? max(v, other) : min(v, other);
  }
  return v;
}

__device__ __forceinline__ std::uint32_t warp_min(std::uint32_t v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(~0u, v);
#else
#pragma unroll
  for (int j = 16; j > 0; j >>= 1) v = min(v, __shfl_xor_sync(~0u, v, j));
  return v;
#endif
}

template <class T>
__device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int j = 16; j > 0; j >>= 1) v += __shfl_xor_sync(~0u, v, j);
  return v;
}

/// Two values clipped to 0 .. 65535, as half words.
__device__ __forceinline__ std::uint32_t pack_saturated(int high, int low) {
  std::uint32_t packed;
  asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(packed) : "r"(high), "r"(low));
  return packed;
}

/// c += a b: 16x32 by 32x8, bytes, in the layout of mma.m16n8k32.
__device__ __forceinline__ void mma_u8(int (&c)[4], const std::uint32_t* a, std::uint32_t b0,
                                       std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else  // Turing has the quarter of it
  const auto quarter = [](int& c0, int& c1, std::uint32_t x, std::uint32_t y) {
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(c0), "+r"(c1)
                 : "r"(x), "r"(y));
  };
  quarter(c[0], c[1], a[0], b0);
  quarter(c[0], c[1], a[2], b1);
  quarter(c[2], c[3], a[1], b0);
  quarter(c[2], c[3], a[3], b1);
#endif
}

/// a b: 16x8 by 8x8, halves with sums in float, in the layout of mma.m16n8k8.
__device__ __forceinline__ void mma_half(float (&c)[4], std::uint32_t a0, std::uint32_t a1,
                                         std::uint32_t b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
      : "r"(a0), "r"(a1), "r"(b), "f"(0.f), "f"(0.f), "f"(0.f), "f"(0.f));
}

/// Two floats as halves, the first in the low half word.
__device__ __forceinline__ std::uint32_t pack_halves(float low, float high) {
  const __half2 halves = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&halves);
}

}  // namespace lull::bm3d
