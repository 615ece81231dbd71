// The 2D transforms of patches for filter.cpp, which includes this file once for each instruction
// set.

// A unit is a set of SIMD vectors that contains one complete patch or, if vectors have 16 lanes,
// two complete patches. Vector r contains row r of each patch. If vectors have 4 lanes, vector r
// contains the left half of row r, and vector r + 8 contains the right half.

// The 2D transform consists of two 1D transforms. The first combines the rows of a patch, lane by
// lane. The code then transposes the patch, so that the second combines the columns. As a result,
// lane v of vector u contains the coefficient with the horizontal frequency u and the vertical
// frequency v.

// The basis functions have no scale factors, which saves multiplications. The tables of the filter
// (FilterTables) contain the missing scale factors.

#if defined(LULL_BM3D_CPU_PATCH_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LULL_BM3D_CPU_PATCH_H
#undef LULL_BM3D_CPU_PATCH_H
#else
#define LULL_BM3D_CPU_PATCH_H
#endif

#include <hwy/highway.h>

#include "bm3d/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Lanes>;
inline constexpr int lanes = static_cast<int>(hn::MaxLanes(Lanes()));
inline constexpr int patches_per_unit = lanes == 16 ? 2 : 1;
inline constexpr int parts = lanes >= 8 ? 1 : 2;  // number of vectors per row
inline constexpr int unit_vectors = patch * parts;
inline constexpr int unit_floats = patch * patch * patches_per_unit;

HWY_INLINE Vector constant(double v) { return hn::Set(Lanes(), static_cast<float>(v)); }

/// The DCT-II with unscaled basis functions. The orthonormal scale is sqrt(1/8) for indices 0 and
/// 4, cos(pi/8) / 2 for indices 2 and 6, and cos(pi/16) / 2 for odd indices.
struct Dct {
  static constexpr double tan1 = 0.41421356237309504880;  // tan(pi/8)
  // The constants r3, r5 and r7 are cos(k * pi / 16) / cos(pi / 16) for k = 3, 5 and 7.
  static constexpr double r3 = 0.84775906502257351226, r5 = 0.56645449735052150030,
                          r7 = 0.19891236737965800691;

  static HWY_INLINE void forward(Vector* x) {
    const Vector s0 = hn::Add(x[0], x[7]), s1 = hn::Add(x[1], x[6]), s2 = hn::Add(x[2], x[5]),
                 s3 = hn::Add(x[3], x[4]);
    const Vector d0 = hn::Sub(x[0], x[7]), d1 = hn::Sub(x[1], x[6]), d2 = hn::Sub(x[2], x[5]),
                 d3 = hn::Sub(x[3], x[4]);
    const Vector t0 = hn::Add(s0, s3), t1 = hn::Add(s1, s2), t2 = hn::Sub(s0, s3),
                 t3 = hn::Sub(s1, s2);
    const Vector t = constant(tan1), a = constant(r3), b = constant(r5), c = constant(r7);
    x[0] = hn::Add(t0, t1);
    x[4] = hn::Sub(t0, t1);
    x[2] = hn::MulAdd(t, t3, t2);
    x[6] = hn::MulSub(t, t2, t3);
    x[1] = hn::MulAdd(c, d3, hn::MulAdd(b, d2, hn::MulAdd(a, d1, d0)));
    x[3] = hn::NegMulAdd(b, d3, hn::NegMulAdd(c, d1, hn::MulSub(a, d0, d2)));
    x[5] = hn::MulAdd(a, d3, hn::MulAdd(c, d2, hn::MulSub(b, d0, d1)));
    x[7] = hn::MulAdd(a, d2, hn::NegMulAdd(b, d1, hn::MulSub(c, d0, d3)));
  }

  static HWY_INLINE void inverse(Vector* x) {
    const Vector t = constant(tan1), a = constant(r3), b = constant(r5), c = constant(r7);
    const Vector e0 = hn::Add(x[0], x[4]), e1 = hn::Sub(x[0], x[4]);
    const Vector e2 = hn::MulAdd(t, x[6], x[2]), e3 = hn::MulSub(t, x[2], x[6]);
    const Vector s0 = hn::Add(e0, e2), s3 = hn::Sub(e0, e2), s1 = hn::Add(e1, e3),
                 s2 = hn::Sub(e1, e3);
    const Vector d0 = hn::MulAdd(c, x[7], hn::MulAdd(b, x[5], hn::MulAdd(a, x[3], x[1])));
    const Vector d1 = hn::NegMulAdd(b, x[7], hn::NegMulAdd(c, x[3], hn::MulSub(a, x[1], x[5])));
    const Vector d2 = hn::MulAdd(a, x[7], hn::MulAdd(c, x[5], hn::MulSub(b, x[1], x[3])));
    const Vector d3 = hn::MulAdd(a, x[5], hn::NegMulAdd(b, x[3], hn::MulSub(c, x[1], x[7])));
    x[0] = hn::Add(s0, d0);
    x[1] = hn::Add(s1, d1);
    x[2] = hn::Add(s2, d2);
    x[3] = hn::Add(s3, d3);
    x[4] = hn::Sub(s3, d3);
    x[5] = hn::Sub(s2, d2);
    x[6] = hn::Sub(s1, d1);
    x[7] = hn::Sub(s0, d0);
  }
};

/// The transform Bior1.5 by lifting, for eight periodic samples, with the coefficients in the order
/// of transform_tables.h. The inverse needs inputs multiplied by 1/8, 1/8, 1/4, 1/4, 1/2, 1/2, 1/2
/// and 1/2.
struct Bior {
  static constexpr double tap = 22.0 / 128;

  static HWY_INLINE void forward(Vector* x) {
    const Vector k = constant(tap);
    const Vector d0 = hn::Sub(x[0], x[1]), d1 = hn::Sub(x[2], x[3]), d2 = hn::Sub(x[4], x[5]),
                 d3 = hn::Sub(x[6], x[7]);
    const Vector e0 = hn::Sub(d1, d3), e1 = hn::Sub(d2, d0);
    const Vector l0 = hn::MulAdd(k, e0, hn::Add(x[0], x[1]));
    const Vector l1 = hn::MulAdd(k, e1, hn::Add(x[2], x[3]));
    const Vector l2 = hn::NegMulAdd(k, e0, hn::Add(x[4], x[5]));
    const Vector l3 = hn::NegMulAdd(k, e1, hn::Add(x[6], x[7]));
    const Vector a0 = hn::Add(l0, l1), a1 = hn::Add(l2, l3);
    x[0] = hn::Add(a0, a1);
    x[1] = hn::Sub(a0, a1);
    x[2] = hn::Sub(l0, l1);
    x[3] = hn::Sub(l2, l3);
    x[4] = d0;
    x[5] = d1;
    x[6] = d2;
    x[7] = d3;
  }

  static HWY_INLINE void inverse(Vector* x) {
    const Vector k = constant(tap);
    const Vector d0 = x[4], d1 = x[5], d2 = x[6], d3 = x[7];
    const Vector a0 = hn::Add(x[0], x[1]), a1 = hn::Sub(x[0], x[1]);
    const Vector e0 = hn::Sub(d1, d3), e1 = hn::Sub(d2, d0);
    const Vector l0 = hn::NegMulAdd(k, e0, hn::Add(a0, x[2]));
    const Vector l1 = hn::NegMulAdd(k, e1, hn::Sub(a0, x[2]));
    const Vector l2 = hn::MulAdd(k, e0, hn::Add(a1, x[3]));
    const Vector l3 = hn::MulAdd(k, e1, hn::Sub(a1, x[3]));
    x[0] = hn::Add(l0, d0);
    x[1] = hn::Sub(l0, d0);
    x[2] = hn::Add(l1, d1);
    x[3] = hn::Sub(l1, d1);
    x[4] = hn::Add(l2, d2);
    x[5] = hn::Sub(l2, d2);
    x[6] = hn::Add(l3, d3);
    x[7] = hn::Sub(l3, d3);
  }
};

/// Discrete Fourier transform of eight real samples: coefficients 0 and 4, then the real and
/// imaginary parts of coefficients 1, 2 and 3. The inverse needs coefficients 0 and 4 multiplied by
/// 1/8, and all others by 1/4.
struct Dft {
  static constexpr double root = 0.70710678118654752440;

  static HWY_INLINE void forward(Vector* x) {
    const Vector c = constant(root);
    const Vector s0 = hn::Add(x[0], x[4]), s1 = hn::Add(x[1], x[5]), s2 = hn::Add(x[2], x[6]),
                 s3 = hn::Add(x[3], x[7]);
    const Vector t0 = hn::Sub(x[0], x[4]), t1 = hn::Sub(x[1], x[5]), t2 = hn::Sub(x[2], x[6]),
                 t3 = hn::Sub(x[3], x[7]);
    const Vector difference = hn::Sub(t1, t3), sum = hn::Add(t1, t3);
    x[0] = hn::Add(hn::Add(s0, s2), hn::Add(s1, s3));
    x[1] = hn::Sub(hn::Add(s0, s2), hn::Add(s1, s3));
    x[2] = hn::MulAdd(c, difference, t0);
    x[3] = hn::Neg(hn::MulAdd(c, sum, t2));
    x[4] = hn::Sub(s0, s2);
    x[5] = hn::Sub(s3, s1);
    x[6] = hn::NegMulAdd(c, difference, t0);
    x[7] = hn::NegMulAdd(c, sum, t2);
  }

  static HWY_INLINE void inverse(Vector* x) {
    const Vector c = constant(root);
    const Vector even = hn::Add(x[0], x[1]), odd = hn::Sub(x[0], x[1]);
    const Vector real = hn::Mul(c, hn::Sub(x[2], x[6])), imag = hn::Mul(c, hn::Add(x[3], x[7]));
    const Vector e0 = hn::Add(even, x[4]), e1 = hn::Sub(odd, x[5]), e2 = hn::Sub(even, x[4]),
                 e3 = hn::Add(odd, x[5]);
    const Vector o0 = hn::Add(x[2], x[6]), o1 = hn::Sub(real, imag), o2 = hn::Sub(x[7], x[3]),
                 o3 = hn::Neg(hn::Add(real, imag));
    x[0] = hn::Add(e0, o0);
    x[1] = hn::Add(e1, o1);
    x[2] = hn::Add(e2, o2);
    x[3] = hn::Add(e3, o3);
    x[4] = hn::Sub(e0, o0);
    x[5] = hn::Sub(e1, o1);
    x[6] = hn::Sub(e2, o2);
    x[7] = hn::Sub(e3, o3);
  }
};

HWY_INLINE Vector interleave_lower_pairs(Vector a, Vector b) {
  const hn::Repartition<std::uint64_t, Lanes> d;
  return hn::BitCast(Lanes(), hn::InterleaveLower(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}
HWY_INLINE Vector interleave_upper_pairs(Vector a, Vector b) {
  const hn::Repartition<std::uint64_t, Lanes> d;
  return hn::BitCast(Lanes(), hn::InterleaveUpper(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}

/// Transposes a 4x4 matrix in each 128-bit lane of four vectors.
HWY_INLINE void transpose4(Vector* v) {
  const Lanes d;
  const Vector t0 = hn::InterleaveLower(d, v[0], v[1]), t1 = hn::InterleaveUpper(d, v[0], v[1]);
  const Vector t2 = hn::InterleaveLower(d, v[2], v[3]), t3 = hn::InterleaveUpper(d, v[2], v[3]);
  v[0] = interleave_lower_pairs(t0, t2);
  v[1] = interleave_upper_pairs(t0, t2);
  v[2] = interleave_lower_pairs(t1, t3);
  v[3] = interleave_upper_pairs(t1, t3);
}

/// Transposes the 8x8 patches in the vectors `v`. Vectors of 16 lanes contain two patches, and
/// shorter vectors contain one patch.
HWY_INLINE void transpose(Vector* v) {
  for (int i = 0; i < unit_vectors; i += 4) transpose4(v + i);
  if constexpr (parts == 2) {
    for (int i = 0; i < 4; ++i) std::swap(v[4 + i], v[8 + i]);
  } else if constexpr (lanes == 8) {
    for (int i = 0; i < 4; ++i) {
      const Vector top = v[i], bottom = v[i + 4];
      v[i] = hn::ConcatLowerLower(Lanes(), bottom, top);
      v[i + 4] = hn::ConcatUpperUpper(Lanes(), bottom, top);
    }
  } else {
    for (int i = 0; i < 4; ++i) {
      const Vector top = v[i], bottom = v[i + 4];
      v[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(bottom), top);
      v[i + 4] = hn::OddEvenBlocks(bottom, hn::SwapAdjacentBlocks(top));
    }
  }
}

template <class Transform>
HWY_INLINE void forward_unit(Vector* v) {
  for (int i = 0; i < unit_vectors; i += 8) Transform::forward(v + i);
  transpose(v);
  for (int i = 0; i < unit_vectors; i += 8) Transform::forward(v + i);
}

template <class Transform>
HWY_INLINE void inverse_unit(Vector* v) {
  for (int i = 0; i < unit_vectors; i += 8) Transform::inverse(v + i);
  transpose(v);
  for (int i = 0; i < unit_vectors; i += 8) Transform::inverse(v + i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#endif
