#pragma once
// Warp operations: sorting networks, and matrix products on the tensor cores.

#include <cuda_fp16.h>

#include <cstdint>

namespace lull {

/// Stops the compiler from recomputing a pointer to shared memory at each use: the pointer stays in
/// a register.
template <class T>
__device__ __forceinline__ T* keep_address(T* place) {
#ifdef __CUDA_ARCH__
  auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(place));
  asm("" : "+r"(address));
  return static_cast<T*>(__cvta_shared_to_generic(address));
#else
  return place;
#endif
}

/// Hides the origin of an address in device memory from the compiler. The addition of a 32-bit
/// offset then takes one instruction instead of four.
template <class T>
__device__ __forceinline__ T* kept_global(T* place) {
#ifdef __CUDA_ARCH__
  asm("" : "+l"(place));
  __builtin_assume(__isGlobal(place));
#endif
  return place;
}

/// The comparisons of a sorting network. `WordOrder` compares 32-bit words. `HalfWordOrder`
/// compares the low half words with each other, and the high half words with each other.
struct WordOrder {
  static __device__ std::uint32_t greater(std::uint32_t a, std::uint32_t b) { return max(a, b); }
  static __device__ std::uint32_t less(std::uint32_t a, std::uint32_t b) { return min(a, b); }
};
struct HalfWordOrder {
  static __device__ std::uint32_t greater(std::uint32_t a, std::uint32_t b) {
    return __vmaxu2(a, b);
  }
  static __device__ std::uint32_t less(std::uint32_t a, std::uint32_t b) { return __vminu2(a, b); }
};

/// Compares `v` with the value of the lane at distance `j`. Returns the greater value to the lane
/// with the lower index, and the lesser value to the other lane.
template <class Values = WordOrder>
__device__ __forceinline__ std::uint32_t exchange(std::uint32_t v, int j, int lane) {
  const std::uint32_t other = __shfl_xor_sync(~0u, v, j);
  return (lane & j) == 0 ? Values::greater(v, other) : Values::less(v, other);
}

/// Sorts one value per lane in descending order with a bitonic network. Where the network sorts in
/// ascending order, the function complements the values, because exchange() sorts only in
/// descending order.
template <class Values = WordOrder>
__device__ __forceinline__ std::uint32_t sort_descending(std::uint32_t v, int lane) {
#pragma unroll
  for (int k = 2; k <= 32; k <<= 1) {
    // In each stage, the network sorts some sequences in ascending order and the others in
    // descending order. `before` (previous stage) and `now` (current stage) are the orders for this
    // lane's sequence: 0 for descending, other values for ascending.
    const int before = k > 2 ? lane & (k >> 1) : 0, now = lane & k & 31;
    v = (before != 0) != (now != 0) ? ~v : v;
#pragma unroll
    for (int j = k >> 1; j > 0; j >>= 1) v = exchange<Values>(v, j, lane);
  }
  return v;
}

/// Sorts a bitonic sequence in descending order: the last stage of sort_descending().
__device__ __forceinline__ std::uint32_t merge_descending(std::uint32_t v, int lane) {
#pragma unroll
  for (int j = 16; j > 0; j >>= 1) v = exchange(v, j, lane);
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

__device__ __forceinline__ std::uint32_t warp_max(std::uint32_t v) { return ~warp_min(~v); }

template <class T>
__device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int j = 16; j > 0; j >>= 1) v += __shfl_xor_sync(~0u, v, j);
  return v;
}
#if __CUDA_ARCH__ >= 800
template <>
__device__ __forceinline__ int warp_sum(int v) {
  return __reduce_add_sync(~0u, v);
}
#endif

/// Clips two values to 0..65535 and packs them as the half words of one word.
__device__ __forceinline__ std::uint32_t pack_saturated(int high, int low) {
  std::uint32_t packed;
  asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(packed) : "r"(high), "r"(low));
  return packed;
}

/// Computes c += a * b, where a has 16x32 bytes and b has 32x8 bytes, in the layout of
/// mma.m16n8k32.
__device__ __forceinline__ void mma_u8(int (&c)[4], const std::uint32_t* a, std::uint32_t b0,
                                       std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else  // the instruction of Turing GPUs computes a quarter of the product
  const auto quarter = [](int& c0, int& c1, std::uint32_t x, std::uint32_t y) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(c0), "+r"(c1)
        : "r"(x), "r"(y));
  };
  quarter(c[0], c[1], a[0], b0);
  quarter(c[0], c[1], a[2], b1);
  quarter(c[2], c[3], a[1], b0);
  quarter(c[2], c[3], a[3], b1);
#endif
}

/// The 16x8 elements of a matrix product on the tensor cores, in the layout of mma.m16n8k16.
struct HalfSums {
  std::uint32_t at[2] = {0, 0};
};
struct FloatSums {
  float at[4] = {0, 0, 0, 0};
};

/// Returns a * b + c, where a has 16x16 and b has 16x8 half-precision values.
__device__ __forceinline__ HalfSums multiply(const std::uint32_t (&a)[4], std::uint32_t b0,
                                             std::uint32_t b1, const HalfSums& c) {
  HalfSums d;
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%8, %9};"
      : "=r"(d.at[0]), "=r"(d.at[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c.at[0]), "r"(c.at[1]));
#else  // the instruction of Turing GPUs computes half of the product
  d = c;
  const auto part = [&](std::uint32_t a0, std::uint32_t a1, std::uint32_t b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(d.at[0]), "+r"(d.at[1])
        : "r"(a0), "r"(a1), "r"(b));
  };
  part(a[0], a[1], b0);
  part(a[2], a[3], b1);
#endif
  return d;
}

__device__ __forceinline__ FloatSums multiply(const std::uint32_t (&a)[4], std::uint32_t b0,
                                              std::uint32_t b1, const FloatSums& c) {
  FloatSums d;
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d.at[0]), "=f"(d.at[1]), "=f"(d.at[2]), "=f"(d.at[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c.at[0]), "f"(c.at[1]),
        "f"(c.at[2]), "f"(c.at[3]));
#else
  d = c;
  const auto part = [&](std::uint32_t a0, std::uint32_t a1, std::uint32_t b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(d.at[0]), "+f"(d.at[1]), "+f"(d.at[2]), "+f"(d.at[3])
        : "r"(a0), "r"(a1), "r"(b));
  };
  part(a[0], a[1], b0);
  part(a[2], a[3], b1);
#endif
  return d;
}

/// Returns a * b + c, where a has 16x8 and b has 8x8 half-precision values.
__device__ __forceinline__ HalfSums multiply(std::uint32_t a0, std::uint32_t a1, std::uint32_t b,
                                             const HalfSums& c) {
  HalfSums d;
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
      : "=r"(d.at[0]), "=r"(d.at[1])
      : "r"(a0), "r"(a1), "r"(b), "r"(c.at[0]), "r"(c.at[1]));
  return d;
}
__device__ __forceinline__ FloatSums multiply(std::uint32_t a0, std::uint32_t a1, std::uint32_t b,
                                              const FloatSums& c) {
  FloatSums d;
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, "
      "%9, %10};"
      : "=f"(d.at[0]), "=f"(d.at[1]), "=f"(d.at[2]), "=f"(d.at[3])
      : "r"(a0), "r"(a1), "r"(b), "f"(c.at[0]), "f"(c.at[1]), "f"(c.at[2]), "f"(c.at[3]));
  return d;
}

__device__ __forceinline__ std::uint32_t word_of(__half2 halves) {
  return *reinterpret_cast<const std::uint32_t*>(&halves);
}
__device__ __forceinline__ __half2 halves_of(std::uint32_t word) {
  return *reinterpret_cast<const __half2*>(&word);
}

/// Packs two floats as half-precision values, the first in the low half word.
__device__ __forceinline__ std::uint32_t pack_halves(float low, float high) {
  return word_of(__floats2half2_rn(low, high));
}

#if __CUDA_ARCH__ >= 800
/// Rounds a float to 11 significant bits, the precision of the operands of mma_tf32().
__device__ __forceinline__ std::uint32_t round_to_tf32(float v) {
  std::uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(v));
  return rounded;
}
/// Computes c += a * b, where a has 16x8 and b has 8x8 elements, in the layout of mma.m16n8k8.
__device__ __forceinline__ void mma_tf32(float (&c)[4], const std::uint32_t (&a)[4],
                                         std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

/// Returns the transpose of an 8x8 matrix of half-precision numbers. Each lane holds two adjacent
/// numbers of a row: lane 4g + t holds columns 2t and 2t + 1 of row g, where t is 0 to 3.
__device__ __forceinline__ std::uint32_t transposed_halves(std::uint32_t halves) {
  std::uint32_t turned;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(halves));
  return turned;
}

/// Returns 1 / sqrt(v) from the fast hardware instruction, whose last bits are inexact.
__device__ __forceinline__ float reciprocal_root(float v) {
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}

}  // namespace lull
