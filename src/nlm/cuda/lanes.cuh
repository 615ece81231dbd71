#pragma once
// Arithmetic on one float or two half-precision values. The compiler neither fuses nor reorders
// these operations, so the result of a sample does not depend on the thread that computes it.

#include <cuda_fp16.h>

#include <cstdint>

namespace lull::nlm::cuda {

template <class T>
struct Lanes;

template <>
struct Lanes<float> {
  static constexpr int count = 1;
  using Stored = float;
  static __device__ float make(float first, float) { return first; }
  static __device__ float all(float v) { return v; }
  static __device__ float at(float v, int) { return v; }
};
template <>
struct Lanes<__half2> {
  static constexpr int count = 2;
  using Stored = __half;
  static __device__ __half2 make(float first, float second) {
    return __floats2half2_rn(first, second);
  }
  static __device__ __half2 all(float v) { return __float2half2_rn(v); }
  static __device__ float at(__half2 v, int i) { return i == 0 ? __low2float(v) : __high2float(v); }
};

__device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float sub(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ float mul(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float mul_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ __half2 add(__half2 a, __half2 b) { return __hadd2_rn(a, b); }
__device__ __forceinline__ __half2 sub(__half2 a, __half2 b) { return __hsub2_rn(a, b); }
__device__ __forceinline__ __half2 mul(__half2 a, __half2 b) { return __hmul2_rn(a, b); }
__device__ __forceinline__ __half2 mul_add(__half2 a, __half2 b, __half2 c) {
  return __hfma2(a, b, c);
}

__device__ __forceinline__ float line_within_one(float top, float q) {
  return __saturatef(__fsub_rn(top, q));
}
__device__ __forceinline__ __half2 line_within_one(__half2 top, __half2 q) {
  return __hsub2_sat(top, q);
}
__device__ __forceinline__ float power_of_two(float exponent) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}
__device__ __forceinline__ __half2 power_of_two(__half2 exponent) {
  std::uint32_t power;  // inline, because h2exp2() would convert to floats
  asm("ex2.approx.f16x2 %0, %1;"
      : "=r"(power)
      : "r"(*reinterpret_cast<const std::uint32_t*>(&exponent)));
  return *reinterpret_cast<const __half2*>(&power);
}
__device__ __forceinline__ float falling_power(float top, float q) {
  return power_of_two(fminf(__fsub_rn(top, q), 0.0f));
}
__device__ __forceinline__ __half2 falling_power(__half2 top, __half2 q) {
  return power_of_two(__hmin2(__hsub2_rn(top, q), __float2half2_rn(0.0f)));
}

/// Returns the weight for a distance q (Curve in kernels.h). If q exceeds the range of half
/// precision, the weight is 0.
template <bool exponential, class T>
__device__ __forceinline__ T weight(T top, T q) {
  if constexpr (exponential) {
    return falling_power(top, q);
  } else {
    const T t = line_within_one(top, q), t2 = mul(t, t), t4 = mul(t2, t2);
    return mul(t4, t4);
  }
}

}  // namespace lull::nlm::cuda
