// The transform across the patches of a group and the shrinkage (step 2 in filter.cpp), for all
// group sizes. filter.cpp includes this file once for each instruction set.

// In this file, a unit is the smallest set of SIMD vectors that contains complete patches. A unit
// contains one patch, or, with vectors of 16 lanes, two patches side by side (patch.h).

#if defined(LULL_BM3D_CPU_ACROSS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LULL_BM3D_CPU_ACROSS_H
#undef LULL_BM3D_CPU_ACROSS_H
#else
#define LULL_BM3D_CPU_ACROSS_H
#endif

#include <hwy/highway.h>

#include <bit>
#include <utility>

#include "bm3d/cpu/coloured.h"
#include "bm3d/cpu/kernels.h"
#include "bm3d/cpu/patch.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Compile-time properties of the transform across the patches of a group.
template <int kUnits, bool kPaired, GroupTransform kAcross>
struct Shape {
  static constexpr int units = kUnits;
  // True if the two halves of a vector contain different patches.
  static constexpr bool paired = kPaired;
  static constexpr GroupTransform across = kAcross;
  static constexpr int levels = std::countr_zero(static_cast<unsigned>(kUnits)) + (kPaired ? 1 : 0);

  /// Returns the number of transform levels that compute the coefficients in vector `u`. A level is
  /// one butterfly (a + b, a - b).
  static constexpr int level(int u) {
    if (across == GroupTransform::wht || u == 0) return levels;
    return std::countr_zero(static_cast<unsigned>(u)) + 1;
  }
};

/// Replaces the halves a and b of a vector by a + b and a - b.
HWY_INLINE Vector combine_halves(Vector v) {
  const Lanes d;
  alignas(64) static constexpr float signs[16] = {1,  1,  1,  1,  1,  1,  1,  1,
                                                  -1, -1, -1, -1, -1, -1, -1, -1};
  if constexpr (patches_per_unit == 2)
    return hn::MulAdd(v, hn::Load(d, signs), hn::ConcatLowerUpper(d, v, v));
  else
    return v;
}

HWY_INLINE void butterfly(Vector& a, Vector& b) {
  const Vector sum = hn::Add(a, b);
  b = hn::Sub(a, b);
  a = sum;
}

/// Performs one level of the Haar or Walsh-Hadamard transform across the group. The pragma makes
/// gcc unroll the loops, so that the vectors remain in registers.
template <class S, int kHalf>
HWY_INLINE void level_across(Vector* v) {
  if constexpr (S::across == GroupTransform::haar) {
#pragma GCC unroll 32
    for (int i = 0; i < S::units; i += 2 * kHalf) butterfly(v[i], v[i + kHalf]);
  } else {
#pragma GCC unroll 32
    for (int i = 0; i < S::units / 2; ++i) {
      const int at = i / kHalf * 2 * kHalf + i % kHalf;
      butterfly(v[at], v[at + kHalf]);
    }
  }
}

/// Performs the transform level that combines the two patches in the halves of a vector.
template <class S>
HWY_INLINE void halves_across(Vector* v) {
  if constexpr (S::paired) {
#pragma GCC unroll 32
    for (int i = 0; i < (S::across == GroupTransform::haar ? 1 : S::units); ++i)
      v[i] = combine_halves(v[i]);
  }
}

template <class S, int kHalf = 1>
HWY_INLINE void forward_across(Vector* v) {
  if constexpr (kHalf < S::units) {
    level_across<S, kHalf>(v);
    forward_across<S, 2 * kHalf>(v);
  } else {
    halves_across<S>(v);
  }
}

template <class S, int kHalf = S::units>
HWY_INLINE void inverse_across(Vector* v) {
  if constexpr (kHalf == S::units) halves_across<S>(v);
  if constexpr (kHalf > 1) {
    level_across<S, kHalf / 2>(v);
    inverse_across<S, kHalf / 2>(v);
  }
}

constexpr double power(double base, int exponent) {
  double result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}
inline constexpr double root2 = 1.41421356237309504880;

HWY_INLINE Vector load_row(const CoefficientTable& table, int vector) {
  return hn::LoadU(Lanes(), table.at.data() + vector / parts * 16 + vector % parts * lanes);
}

template <class S>
HWY_INLINE void load_units(const float* stack, Vector* v) {
#pragma GCC unroll 32
  for (int u = 0; u < S::units; ++u) v[u] = hn::LoadU(Lanes(), stack + u * unit_floats);
}
template <class S>
HWY_INLINE void store_units(const Vector* v, float* stack) {
#pragma GCC unroll 32
  for (int u = 0; u < S::units; ++u) hn::StoreU(v[u], Lanes(), stack + u * unit_floats);
}

/// Returns the sum over all lanes of a vector. If both halves of the vector contain the same patch,
/// returns half of the sum, so that each coefficient counts once.
template <class S>
HWY_INLINE float total(Vector v) {
  const float sum = hn::GetLane(hn::SumOfLanes(Lanes(), v));
  return patches_per_unit == 2 && !S::paired ? sum / 2 : sum;
}

/// Applies the hard threshold across the group. Returns the number of retained coefficients or, for
/// coloured noise, the sum of their noise variances. For coloured noise, `tables` contains the
/// squares of the thresholds.
template <class S, bool kColoured>
float threshold_across(const FilterTables& tables, float* stack, const float*) {
  const Lanes d;
  Vector retained = hn::Zero(d);
  for (int i = 0; i < unit_vectors; ++i) {
    Vector v[S::units];
    float* const at = stack + i * lanes;
    load_units<S>(at, v);
    forward_across<S>(v);
    const Vector limit = load_row(tables.limit, i), restore = load_row(tables.restore, i);
#pragma GCC unroll 32
    for (int u = 0; u < S::units; ++u) {
      const int level = S::level(u);
      const Vector base = u == 0 ? load_row(tables.first_limit[S::paired ? 0 : 1], i) : limit;
      Vector variance = constant(1), magnitude = hn::Abs(v[u]);
      Vector scale = constant(power(root2, level));
      if constexpr (kColoured) {
        variance = load_variances<S>(stack, u, i);
        magnitude = hn::Mul(v[u], v[u]);
        scale = hn::Mul(variance, constant(power(2, level)));
      }
      const auto keep = hn::Gt(magnitude, hn::Mul(base, scale));
      v[u] = hn::IfThenElseZero(keep, hn::Mul(v[u], hn::Mul(restore, constant(power(0.5, level)))));
      retained = hn::Add(retained, hn::IfThenElseZero(keep, variance));
    }
    inverse_across<S>(v);
    store_units<S>(v, at);
  }
  return total<S>(retained);
}

/// Returns 1 / v with the precision of a float. On x86, the CPU returns an estimate with at least
/// 11 significant bits. One step of Newton's method then gives the full precision.
HWY_INLINE Vector reciprocal(Vector v) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  const Vector estimate = hn::ApproximateReciprocal(v);
  return hn::Mul(estimate, hn::NegMulAdd(v, estimate, constant(2)));
#else
  return hn::Div(constant(1), v);
#endif
}

/// Applies the Wiener factors of the second phase across the group. Returns the sum of the squared
/// factors. With coloured noise, the function multiplies each square by the noise variance of the
/// coefficient.
template <class S, bool kColoured>
float wiener_across(const FilterTables& tables, float* stack, const float* basic_stack) {
  const Lanes d;
  Vector energy = hn::Zero(d);
  for (int i = 0; i < unit_vectors; ++i) {
    Vector noisy[S::units], basic[S::units];
    load_units<S>(basic_stack + i * lanes, basic);
    forward_across<S>(basic);
    const Vector noise = load_row(tables.limit, i), restore = load_row(tables.restore, i);
#pragma GCC unroll 32
    for (int u = 0; u < S::units; ++u) {
      const int level = S::level(u);
      constexpr int first = S::paired ? 0 : 1;
      Vector variance = constant(1), scale = constant(power(2, level));
      if constexpr (kColoured) {
        variance = load_variances<S>(stack, u, i);
        scale = hn::Mul(variance, scale);
      }
      const Vector n = hn::Mul(u == 0 ? load_row(tables.first_limit[first], i) : noise, scale);
      const Vector m = u == 0 ? hn::Mul(load_row(tables.first_denominator[first], i), scale) : n;
      const Vector inverse = reciprocal(hn::MulAdd(basic[u], basic[u], m));
      const Vector factor = hn::NegMulAdd(n, inverse, constant(1));
      const Vector part = kColoured ? hn::Mul(factor, variance) : factor;
      energy = hn::MulAdd(factor, part, energy);
      basic[u] = hn::Mul(factor, hn::Mul(restore, constant(power(0.5, level))));
    }
    float* const at = stack + i * lanes;
    load_units<S>(at, noisy);
    forward_across<S>(noisy);
#pragma GCC unroll 32
    for (int u = 0; u < S::units; ++u) noisy[u] = hn::Mul(noisy[u], basic[u]);
    inverse_across<S>(noisy);
    store_units<S>(noisy, at);
  }
  return total<S>(energy);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#endif
