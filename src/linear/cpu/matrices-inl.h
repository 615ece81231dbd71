// Products and inverses of small matrices. A part of combine.cpp, which Highway compiles for
// several instruction sets.

#if defined(LULL_LINEAR_CPU_MATRICES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LULL_LINEAR_CPU_MATRICES_INL_H_
#undef LULL_LINEAR_CPU_MATRICES_INL_H_
#else
#define LULL_LINEAR_CPU_MATRICES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "linear/params.h"

HWY_BEFORE_NAMESPACE();
namespace lull::linear::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;

/// Maximum number of vectors per row that the functions keep in registers for a block of four rows.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr int max_vectors = 2;  // with 16 registers
#else
constexpr int max_vectors = 4;  // with 32 registers
#endif
constexpr int block = 4;  // rows that are processed together

/// Returns a mask of the first `count` lanes. `count` may be negative or exceed the number of
/// lanes.
HWY_INLINE auto first_lanes(int count) {
  const D d;
  return hn::FirstN(d, static_cast<std::size_t>(std::max(count, 0)));
}

/// The left factor of a product: element (i, l) is at values[i * row_stride + l * column_stride].
struct LeftFactor {
  const float* values;
  int row_stride, column_stride;
};

/// Computes a block of a matrix product. The block has four rows, and its columns fill `kVectors`
/// vectors.
template <int kVectors>
HWY_INLINE void multiply_block(const LeftFactor& a, int inner, const float* HWY_RESTRICT b,
                               int columns, float* HWY_RESTRICT to) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  hn::Vec<D> sum[block][kVectors];
  for (auto& row : sum)
    for (auto& vector : row) vector = hn::Zero(d);
  const float* left = a.values;
  for (int l = 0; l < inner; ++l, left += a.column_stride, b += columns) {
    hn::Vec<D> right[kVectors];
    for (int v = 0; v < kVectors; ++v) right[v] = hn::Load(d, b + v * lanes);
    for (int i = 0; i < block; ++i) {
      const auto factor = hn::Set(d, left[i * a.row_stride]);
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(factor, right[v], sum[i][v]);
    }
  }
  for (int i = 0; i < block; ++i)
    for (int v = 0; v < kVectors; ++v) hn::Store(sum[i][v], d, to + i * columns + v * lanes);
}

/// Computes four rows of a product, beginning with column `first`.
HWY_INLINE void multiply_rows(const LeftFactor& a, int inner, const float* b, int columns,
                              int first, float* to) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int c = first;
  for (; c + max_vectors * lanes <= columns; c += max_vectors * lanes)
    multiply_block<max_vectors>(a, inner, b + c, columns, to + c);
  const int rest = (columns - c) / lanes;
  if (rest == 3) multiply_block<3>(a, inner, b + c, columns, to + c);
  if (rest == 2) multiply_block<2>(a, inner, b + c, columns, to + c);
  if (rest == 1) multiply_block<1>(a, inner, b + c, columns, to + c);
}

/// Computes the matrix product to = a * b. `a` has `rows` x `inner` elements, and `b` and `to` have
/// `columns` columns. `rows` must be a multiple of 4, and `columns` a multiple of the number of
/// lanes.
HWY_NOINLINE void multiply(const LeftFactor& a, int rows, int inner, const float* b, int columns,
                           float* to) {
  for (int i = 0; i < rows; i += block)
    multiply_rows({a.values + i * a.row_stride, a.row_stride, a.column_stride}, inner, b, columns,
                  0, to + i * columns);
}

/// Returns the first stored column of row `i` of a symmetric matrix. Memory contains the upper
/// triangle and the complete 16x16 diagonal blocks of the matrix.
constexpr int square = 16;
constexpr int first_column(int i) { return i / square * square; }

/// Computes the upper triangle of the k x k Gram matrix A' * A. A is the matrix `columns`, with
/// `rows` rows and k columns, and A' is its transpose.
HWY_NOINLINE void gram_matrix(const float* columns, int rows, int k, float* to) {
  for (int i = 0; i < k; i += block)
    multiply_rows({columns + i, 1, k}, rows, columns, k, first_column(i), to + i * k);
}

/// Copies the upper triangle of a symmetric matrix to the lower triangle, except in the 16x16
/// diagonal blocks.
HWY_INLINE void mirror(int k, float* matrix) {
  const D d;
  const hn::FixedTag<float, block> four;
  const int lanes = static_cast<int>(hn::Lanes(d));
  alignas(64) float parts[square * block];
  for (int i = 0; i < k; i += block)
    for (int c = first_column(i) + square; c < k; c += lanes) {
      const float* const from = matrix + i * k + c;
      hn::StoreInterleaved4(hn::Load(d, from), hn::Load(d, from + k), hn::Load(d, from + 2 * k),
                            hn::Load(d, from + 3 * k), d, parts);
      for (int j = 0; j < lanes; ++j)
        hn::StoreU(hn::Load(four, parts + j * block), four, matrix + (c + j) * k + i);
    }
}

/// Adds the regularisation term f (params.h) to each diagonal element of a Gram matrix of size `k`.
/// The matrix belongs to a group of `members` patches with `samples` samples each. Returns f.
HWY_INLINE float add_floor(int members, int samples, int k, float* matrix) {
  float trace = 0;
  for (int i = 0; i < members; ++i) trace += matrix[i * k + i];
  const float lowest = floor_share * trace / static_cast<float>(members) +
                       floor_variance * static_cast<float>(samples);
  for (int i = 0; i < k; ++i) matrix[i * k + i] += lowest;
  return lowest;
}

/// A symmetric 2x2 matrix [a b; b c].
struct Symmetric2 {
  float a, b, c;
};
HWY_INLINE Symmetric2 inverse_of(const Symmetric2& m) {
  const float scale = 1 / (m.a * m.c - m.b * m.b);
  return {m.c * scale, -m.b * scale, m.a * scale};
}

/// Inverts a symmetric positive definite 4x4 matrix [P B; B' C], from the inverses of P and of the
/// Schur complement C - B' * P^-1 * B. The row stride of `from` is `block`.
HWY_INLINE void invert_block(const float* HWY_RESTRICT from, float (&to)[block][block]) {
  const Symmetric2 p = inverse_of({from[0], from[1], from[5]});
  const float b00 = from[2], b01 = from[3], b10 = from[6], b11 = from[7];
  // T = P^-1 * B, for the upper left block P and the upper right block B.
  const float t00 = p.a * b00 + p.b * b10, t01 = p.a * b01 + p.b * b11;
  const float t10 = p.b * b00 + p.c * b10, t11 = p.b * b01 + p.c * b11;
  const Symmetric2 s =
      inverse_of({from[10] - (b00 * t00 + b10 * t10), from[11] - (b00 * t01 + b10 * t11),
                  from[15] - (b01 * t01 + b11 * t11)});
  // U = P^-1 * B * S^-1, for the upper left block P, the upper right block B and the Schur
  // complement S of P.
  const float u00 = t00 * s.a + t01 * s.b, u01 = t00 * s.b + t01 * s.c;
  const float u10 = t10 * s.a + t11 * s.b, u11 = t10 * s.b + t11 * s.c;
  to[0][0] = p.a + u00 * t00 + u01 * t01;
  to[0][1] = to[1][0] = p.b + u00 * t10 + u01 * t11;
  to[1][1] = p.c + u10 * t10 + u11 * t11;
  to[0][2] = to[2][0] = -u00;
  to[0][3] = to[3][0] = -u01;
  to[1][2] = to[2][1] = -u10;
  to[1][3] = to[3][1] = -u11;
  to[2][2] = s.a;
  to[2][3] = to[3][2] = s.b;
  to[3][3] = s.c;
}

/// Subtracts multiples of the four pivot rows from all other rows of a band. The band has `square`
/// rows and begins with row `top`. The function changes `kVectors` vectors of each row, beginning
/// at column `column`. `factors` contains the four multipliers of each row.
template <int kVectors>
HWY_INLINE void eliminate(int k, int pivot, int top, int column, const float* HWY_RESTRICT factors,
                          const float* HWY_RESTRICT pivots, float* HWY_RESTRICT matrix) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  hn::Vec<D> rows[block][kVectors];
  for (int b = 0; b < block; ++b)
    for (int v = 0; v < kVectors; ++v)
      rows[b][v] = hn::Load(d, pivots + b * k + column + v * lanes);
  for (int i = top; i < top + square; ++i) {
    if (i == pivot) {
      i += block - 1;
      continue;
    }
    float* const row = matrix + i * k + column;
    hn::Vec<D> sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::Load(d, row + v * lanes);
    for (int b = 0; b < block; ++b) {
      const auto factor = hn::Set(d, factors[i * block + b]);
      for (int v = 0; v < kVectors; ++v) sum[v] = hn::NegMulAdd(factor, rows[b][v], sum[v]);
    }
    for (int v = 0; v < kVectors; ++v) hn::Store(sum[v], d, row + v * lanes);
  }
}

/// Applies the elimination of the four pivots to all stored columns of `square` rows, beginning
/// with row `top`.
HWY_INLINE void eliminate_rows(int k, int pivot, int top, const float* factors, const float* pivots,
                               float* matrix) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  int c = top;
  for (; c + max_vectors * lanes <= k; c += max_vectors * lanes)
    eliminate<max_vectors>(k, pivot, top, c, factors, pivots, matrix);
  const int rest = (k - c) / lanes;
  if (rest == 3) eliminate<3>(k, pivot, top, c, factors, pivots, matrix);
  if (rest == 2) eliminate<2>(k, pivot, top, c, factors, pivots, matrix);
  if (rest == 1) eliminate<1>(k, pivot, top, c, factors, pivots, matrix);
}

/// Moves the pivot columns to `factors`, row by row, and replaces them by zeros.
HWY_INLINE void take_pivot_columns(int k, int p, float* HWY_RESTRICT matrix,
                                   float* HWY_RESTRICT factors) {
  const D d;
  const hn::FixedTag<float, block> four;
  const int lanes = static_cast<int>(hn::Lanes(d)), stored = first_column(p) + square;
  for (int i = 0; i < stored; ++i) {
    float* const at = matrix + i * k + p;
    hn::Store(hn::LoadU(four, at), four, factors + i * block);
    hn::StoreU(hn::Zero(four), four, at);
  }
  for (int c = stored; c < k; c += lanes) {
    const float* const row = matrix + p * k + c;
    hn::StoreInterleaved4(hn::Load(d, row), hn::Load(d, row + k), hn::Load(d, row + 2 * k),
                          hn::Load(d, row + 3 * k), d, factors + c * block);
  }
}

/// Replaces a symmetric positive definite k x k matrix by its negative inverse. Accesses only the
/// upper triangle and the diagonal blocks (first_column()). `k` must be a multiple of 16, and at
/// most max_group.
HWY_NOINLINE void invert_negative(int k, float* matrix) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  alignas(64) float factors[max_group * block];
  alignas(64) float pivots[block * max_group];
  for (int p = 0; p < k; p += block) {
    take_pivot_columns(k, p, matrix, factors);
    float inverse[block][block];
    invert_block(factors + p * block, inverse);
    for (int c = 0; c < k; c += lanes) {
      hn::Vec<D> rows[block];
      hn::LoadInterleaved4(d, factors + c * block, rows[0], rows[1], rows[2], rows[3]);
      for (int b = 0; b < block; ++b) {
        auto sum = hn::Mul(hn::Set(d, inverse[b][0]), rows[0]);
        for (int i = 1; i < block; ++i) sum = hn::MulAdd(hn::Set(d, inverse[b][i]), rows[i], sum);
        hn::Store(sum, d, pivots + b * k + c);
      }
    }
    for (int b = 0; b < block; ++b)
      for (int c = 0; c < block; ++c) pivots[b * k + p + c] = -inverse[b][c];
    for (int top = 0; top < k; top += square) eliminate_rows(k, p, top, factors, pivots, matrix);
    for (int b = 0; b < block; ++b)
      std::copy(pivots + b * k + first_column(p), pivots + (b + 1) * k,
                matrix + (p + b) * k + first_column(p));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lull::linear::cpu
HWY_AFTER_NAMESPACE();

#endif
