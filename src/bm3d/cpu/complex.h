// The transform across the group and the shrinkage (step 2 in filter.cpp) for the complex
// coefficients of the Fourier transform. filter.cpp includes this file once for each instruction
// set.

#if defined(LULL_BM3D_CPU_COMPLEX_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LULL_BM3D_CPU_COMPLEX_H
#undef LULL_BM3D_CPU_COMPLEX_H
#else
#define LULL_BM3D_CPU_COMPLEX_H
#endif

#include <hwy/highway.h>

#include <array>
#include <utility>

#include "bm3d/cpu/across.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Converts the real output of the separable Fourier transform (class Dft) to complex coefficients,
/// and back. For k > 0, rows 2k and 2k + 1 contain the real and the imaginary parts of coefficient
/// k of the transform along x. Likewise, lanes 2k and 2k + 1 contain the parts of coefficient k
/// along y.
class ComplexRows {
 public:
  /// Prepares the conversion of the rows `row` and `row` + 1 of the coefficients of a patch.
  /// Vectors of 4 lanes contain half rows: columns 0..3 if `part` is 0, and columns 4..7 if `part`
  /// is 1. For longer vectors, `part` is 0.
  ComplexRows(int row, int part) : complex_row_(row > 0) {
    alignas(64) static constexpr float signs[16] = {0, 0, -1, 1, -1, 1, -1, 1,
                                                    0, 0, -1, 1, -1, 1, -1, 1};
    signs_ = hn::LoadU(Lanes(), signs + part * lanes);
  }
  /// Packs a row of real parts (`first`) and a row of imaginary parts (`second`) into complex
  /// coefficients. For k > 0, let lanes 2k and 2k + 1 be (a, b) in `first` and (c, d) in `second`.
  /// They give the coefficients (a - d) + i * (b + c) and (a + d) + i * (c - b). The function
  /// stores (a - d, b + c) in these lanes of `first`, and (c - b, a + d) in these lanes of
  /// `second`.
  HWY_INLINE void combine(Vector& first, Vector& second) const {
    if (!complex_row_) return;
    const Vector swapped = swap(first);
    first = hn::MulAdd(signs_, swap(second), first);
    second = hn::MulAdd(signs_, swapped, second);
  }
  HWY_INLINE void separate(Vector& first, Vector& second) const {
    if (!complex_row_) return;
    const Vector swapped = swap(first);
    first = hn::NegMulAdd(signs_, swap(second), first);
    second = hn::NegMulAdd(signs_, swapped, second);
  }
  /// Replaces each real or imaginary part from combine() by the squared magnitude of its
  /// coefficient.
  HWY_INLINE void magnitudes(Vector& first, Vector& second) const {
    const Vector a = hn::Mul(first, first), b = hn::Mul(second, second);
    const auto pair = hn::Ne(signs_, hn::Zero(Lanes()));
    const Vector other = complex_row_ ? b : hn::Zero(Lanes());
    const Vector another = complex_row_ ? a : hn::Zero(Lanes());
    first = hn::Add(a, hn::IfThenElse(pair, swap(a), other));
    second = hn::Add(b, hn::IfThenElse(pair, swap(b), another));
  }

 private:
  static HWY_INLINE Vector swap(Vector v) { return hn::Reverse2(Lanes(), v); }
  bool complex_row_;
  Vector signs_;
};

/// Calls what(rows, i, j) for each pair of coefficient rows 2k and 2k + 1 of a patch. Vector i
/// contains row 2k, and vector j contains row 2k + 1. Vectors of 4 lanes contain half rows, so the
/// function calls what() twice for each pair of rows.
template <class What>
HWY_INLINE void for_row_pairs(const What& what) {
  for (int row = 0; row < patch; row += 2)
    for (int part = 0; part < parts; ++part)
      what(ComplexRows(row, part), row * parts + part, (row + 1) * parts + part);
}

// The functions of the Fourier transform have HWY_NOINLINE, because inlining would double the code
// size of a transform that serves only comparisons.
template <class S>
HWY_NOINLINE void load_mixed(const float* stack, const ComplexRows& rows, int i, int j, Vector* a,
                             Vector* b) {
  load_units<S>(stack + i * lanes, a);
  load_units<S>(stack + j * lanes, b);
  for (int u = 0; u < S::units; ++u) rows.combine(a[u], b[u]);
  forward_across<S>(a);
  forward_across<S>(b);
}

template <class S>
HWY_NOINLINE void store_mixed(float* stack, const ComplexRows& rows, int i, int j, Vector* a,
                              Vector* b) {
  inverse_across<S>(a);
  inverse_across<S>(b);
  for (int u = 0; u < S::units; ++u) rows.separate(a[u], b[u]);
  store_units<S>(a, stack + i * lanes);
  store_units<S>(b, stack + j * lanes);
}

template <class S>
struct ComplexThreshold {
  const FilterTables& tables;
  float* stack;
  Vector& retained;

  HWY_INLINE Vector shrink(Vector value, Vector magnitude, int u, int i) const {
    const Lanes d;
    const int level = S::level(u);
    const Vector limit = load_row(u == 0 ? tables.first_limit[S::paired ? 0 : 1] : tables.limit, i);
    const auto keep = hn::Gt(magnitude, hn::Mul(limit, hn::Set(d, 1 << level)));
    retained = hn::Add(retained, hn::IfThenElseZero(keep, constant(1)));
    const Vector restore = hn::Mul(load_row(tables.restore, i), constant(power(0.5, level)));
    return hn::IfThenElseZero(keep, hn::Mul(value, restore));
  }
  HWY_ATTR void operator()(const ComplexRows& rows, int i, int j) const {
    Vector a[S::units], b[S::units];
    load_mixed<S>(stack, rows, i, j, a, b);
    for (int u = 0; u < S::units; ++u) {
      Vector first = a[u], second = b[u];
      rows.magnitudes(first, second);
      a[u] = shrink(a[u], first, u, i);
      b[u] = shrink(b[u], second, u, j);
    }
    store_mixed<S>(stack, rows, i, j, a, b);
  }
};

template <class S>
float threshold_complex(const FilterTables& tables, float* stack, const float*) {
  Vector retained = hn::Zero(Lanes());
  for_row_pairs(ComplexThreshold<S>{tables, stack, retained});
  return total<S>(retained);
}

template <class S>
struct ComplexWiener {
  const FilterTables& tables;
  float* stack;
  const float* basic_stack;
  Vector& energy;

  HWY_INLINE Vector scaled(Vector value, Vector magnitude, int u, int i) const {
    const int level = S::level(u);
    constexpr int first = S::paired ? 0 : 1;
    const Vector scale = constant(power(2, level));
    const auto& above = u == 0 ? tables.first_limit[first] : tables.limit;
    const auto& below = u == 0 ? tables.first_denominator[first] : tables.limit;
    const Vector inverse = reciprocal(hn::MulAdd(load_row(below, i), scale, magnitude));
    const Vector factor = hn::NegMulAdd(hn::Mul(load_row(above, i), scale), inverse, constant(1));
    energy = hn::MulAdd(factor, factor, energy);
    const Vector restore = hn::Mul(load_row(tables.restore, i), constant(power(0.5, level)));
    return hn::Mul(value, hn::Mul(factor, restore));
  }
  HWY_ATTR void operator()(const ComplexRows& rows, int i, int j) const {
    Vector a[S::units], b[S::units], c[S::units], e[S::units];
    load_mixed<S>(basic_stack, rows, i, j, a, b);
    load_mixed<S>(stack, rows, i, j, c, e);
    for (int u = 0; u < S::units; ++u) {
      rows.magnitudes(a[u], b[u]);
      c[u] = scaled(c[u], a[u], u, i);
      e[u] = scaled(e[u], b[u], u, j);
    }
    store_mixed<S>(stack, rows, i, j, c, e);
  }
};

template <class S>
float wiener_complex(const FilterTables& tables, float* stack, const float* basic_stack) {
  Vector energy = hn::Zero(Lanes());
  for_row_pairs(ComplexWiener<S>{tables, stack, basic_stack, energy});
  return total<S>(energy);
}

/// Kinds of coefficients: real with white noise, real with coloured noise, or complex.
enum class Spectrum { white, coloured, complex };

/// A function that shrinks one group. In the first phase, it returns the number of retained
/// coefficients or, for coloured noise, the sum of their noise variances. In the second phase, it
/// returns the sum of the squared Wiener factors. For coloured noise, it multiplies each square by
/// the noise variance of the coefficient.
using Across = float (*)(const FilterTables&, float* stack, const float* basic_stack);
/// Element n is the function for groups of 2^n patches.
using AcrossBySize = std::array<Across, 6>;

template <class S, Spectrum kSpectrum, bool kWiener>
constexpr Across pick_across() {
  constexpr bool coloured = kSpectrum == Spectrum::coloured;
  if constexpr (kSpectrum == Spectrum::complex)
    return kWiener ? wiener_complex<S> : threshold_complex<S>;
  else
    return kWiener ? wiener_across<S, coloured> : threshold_across<S, coloured>;
}

template <GroupTransform kAcross, Spectrum kSpectrum, bool kWiener, int... kLog2>
constexpr AcrossBySize across_by_size(std::integer_sequence<int, kLog2...> /*sizes*/) {
  constexpr bool halves = patches_per_unit == 2;
  return {pick_across<
      Shape<(halves && kLog2 != 0 ? (1 << kLog2) / 2 : 1 << kLog2), halves && kLog2 != 0, kAcross>,
      kSpectrum, kWiener>()...};
}

template <Spectrum kSpectrum>
Across across(GroupTransform transform, bool wiener, int log2_size) {
  using Sizes = std::make_integer_sequence<int, 6>;
  using enum GroupTransform;
  static constexpr AcrossBySize table[] = {across_by_size<haar, kSpectrum, false>(Sizes()),
                                           across_by_size<haar, kSpectrum, true>(Sizes()),
                                           across_by_size<wht, kSpectrum, false>(Sizes()),
                                           across_by_size<wht, kSpectrum, true>(Sizes())};
  return table[(transform == wht ? 2 : 0) + (wiener ? 1 : 0)][log2_size];
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#endif
