// Computes the estimates of a group from the covariance of its patches, with small matrices.

// Definitions: The columns of Y are the n noisy patches of a group. The columns of B are the
// patches that determine the spectrum (noisy or basic estimate). Samples are in units of sigma,
// minus the mean of Y or B. With the Gram matrix G = B'B / n and weights W, the estimates are X = B
// W.

// Weights W for the spectrum of noisy patches: W = I - t (G + t I)^-1, with the Gram matrix G and
// the threshold t, sharpened by W <- 3 W^2 - 2 W^3.

// Weights W for the spectrum of the basic estimate: W = (G + t I)^-1 B'Y / n, for the n noisy
// patches Y, the patches B of the basic estimate, their Gram matrix G and the threshold t. The code
// uses the equivalent form I + (G + t I)^-1 (B'(Y - B) / n - t I), which avoids cancellation.

// Patches are rows in memory, so the code computes the transpose of the estimates. Unused rows of a
// group are zero.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm3d/cpu/bayes_filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "bm3d/bayes_precision.h"
#include "bm3d/cpu/bayes.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;  // a multiple of two vectors

/// The part that multiply() computes: the complete product, or the lower half of a symmetric
/// product.
enum class Part { full, lower };

/// Computes c = a' b, where a and b have `depth` rows. The strides are `rows` for a, a multiple of
/// 4, and `columns` for b and c, a multiple of 32.
HWY_INLINE void multiply(const float* a, const float* b, float* c, int depth, int rows, int columns,
                         Part part) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int j = 0; j < columns; j += 2 * lanes)
    for (int i = part == Part::lower ? j : 0; i < rows; i += 4) {
      hn::Vec<Floats> left[4], right[4];
      for (int r = 0; r < 4; ++r) left[r] = right[r] = hn::Zero(d);
      const float *from_a = a + i, *from_b = b + j;
      for (int k = 0; k < depth; ++k, from_a += rows, from_b += columns) {
        const auto b0 = hn::LoadU(d, from_b), b1 = hn::LoadU(d, from_b + lanes);
        for (int r = 0; r < 4; ++r) {
          const auto factor = hn::Set(d, from_a[r]);
          left[r] = hn::MulAdd(factor, b0, left[r]);
          right[r] = hn::MulAdd(factor, b1, right[r]);
        }
      }
      for (int r = 0; r < 4; ++r) {
        hn::StoreU(left[r], d, c + (i + r) * columns + j);
        hn::StoreU(right[r], d, c + (i + r) * columns + j + lanes);
      }
    }
}

/// Copies the lower half of a symmetric matrix to its upper half.
HWY_INLINE void mirror(float* a, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
}

/// Computes c = a b for symmetric matrices whose product is also symmetric.
HWY_INLINE void multiply_symmetric(const float* a, const float* b, float* c, int n) {
  multiply(a, b, c, n, n, n, Part::lower);
  mirror(c, n);
}

inline constexpr int pivots = 4;  // number of pivots that are eliminated together

/// The 4x4 matrix of the pivot rows and columns, upper triangular after eliminate_forward().
using Triangle = float[pivots][pivots];

/// Subtracts factor[k] times row k of the matrix `rows` from `row`, for k = `first` to `end` - 1.
HWY_INLINE void subtract_rows(float* row, const float* rows, const float (&factor)[pivots],
                              int first, int end, int n) {
  const Floats d;
  for (int j = 0; j < n; j += static_cast<int>(hn::Lanes(d))) {
    auto sum = hn::LoadU(d, row + j);
    for (int k = first; k < end; ++k)
      sum = hn::NegMulAdd(hn::Set(d, factor[k]), hn::LoadU(d, rows + k * n + j), sum);
    hn::StoreU(sum, d, row + j);
  }
}

/// Eliminates the column of each pivot from the following pivot rows.
HWY_INLINE void eliminate_forward(float* rows, Triangle& upper, int n) {
  for (int r = 1; r < pivots; ++r) {
    float factor[pivots] = {};
    for (int k = 0; k < r; ++k) {
      factor[k] = upper[r][k] / upper[k][k];
      for (int j = k; j < pivots; ++j) upper[r][j] -= factor[k] * upper[k][j];
    }
    subtract_rows(rows + r * n, rows, factor, 0, r, n);
  }
}

/// Eliminates the pivot columns from a row without pivots. Similar patches have a large common
/// component. The first pivot removes this component, so all later factors are small, and rounding
/// errors remain small.
HWY_INLINE void eliminate(float* row, const float* rows, const Triangle& upper, int first, int n) {
  float factor[pivots];
  for (int k = 0; k < pivots; ++k) factor[k] = std::exchange(row[first + k], 0.0f);
  for (int k = 0; k < pivots; ++k) {
    factor[k] /= upper[k][k];
    for (int j = k + 1; j < pivots; ++j) factor[j] -= factor[k] * upper[k][j];
  }
  subtract_rows(row, rows, factor, 0, pivots, n);
}

/// Processes the pivot rows from the last to the first: eliminates the columns of all later pivots
/// from the row, and then divides the row by its own pivot.
HWY_INLINE void eliminate_backward(float* rows, const Triangle& upper, int n) {
  const Floats d;
  for (int k = pivots - 1; k >= 0; --k) {
    float* const row = rows + k * n;
    subtract_rows(row, rows, upper[k], k + 1, pivots, n);
    const auto inverse = hn::Set(d, 1 / upper[k][k]);
    for (int j = 0; j < n; j += static_cast<int>(hn::Lanes(d)))
      hn::StoreU(hn::Mul(inverse, hn::LoadU(d, row + j)), d, row + j);
  }
}

/// Inverts a symmetric positive definite matrix in place, by Gauss-Jordan elimination with blocks
/// of four pivots.
HWY_INLINE void invert(float* a, int n) {
  for (int first = 0; first < n; first += pivots) {
    float* const rows = a + first * n;
    Triangle upper;
    for (int k = 0; k < pivots; ++k)
      for (int i = 0; i < pivots; ++i)
        upper[k][i] = std::exchange(rows[k * n + first + i], k == i ? 1.0f : 0.0f);
    eliminate_forward(rows, upper, n);
    for (int i = 0; i < n; ++i)
      if (i < first || i >= first + pivots) eliminate(a + i * n, rows, upper, first, n);
    eliminate_backward(rows, upper, n);
  }
}

/// Subtracts the mean of the group from its patches, converts the samples to units of sigma, and
/// clears unused rows. Returns the mean.
HWY_INLINE float centre(float* patches, const BayesGroup& g, float sigma) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  double sum = 0;
  for (int m = 0; m < g.count; ++m) {
    float* const patch = patches + m * g.pitch;
    std::fill(patch + g.samples, patch + g.pitch, 0.0f);
    auto of_patch = hn::Zero(d);
    for (int i = 0; i < g.pitch; i += lanes) of_patch = hn::Add(of_patch, hn::LoadU(d, patch + i));
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, of_patch)));
  }
  const auto mean = static_cast<float>(sum / (static_cast<double>(g.count) * g.samples));
  const auto level = hn::Set(d, mean), unit = hn::Set(d, 1 / sigma);
  for (int m = 0; m < g.count; ++m) {
    float* const patch = patches + m * g.pitch;
    for (int i = 0; i < g.pitch; i += lanes)
      hn::StoreU(hn::Mul(unit, hn::Sub(hn::LoadU(d, patch + i), level)), d, patch + i);
    std::fill(patch + g.samples, patch + g.pitch, 0.0f);
  }
  std::fill(patches + g.count * g.pitch, patches + g.group * g.pitch, 0.0f);
  return mean;
}

/// Transposes the patches of a group to the order [sample][member].
HWY_INLINE void transpose(const float* patches, const BayesGroup& g, float* transposed) {
  constexpr int block = 8;
  for (int m = 0; m < g.group; m += block)
    for (int i = 0; i < g.samples; ++i)
      for (int k = 0; k < block; ++k)
        transposed[i * g.group + m + k] = patches[(m + k) * g.pitch + i];
}

/// The arrays in the scratch memory, without gaps.
struct Matrices {
  float *transposed, *transposed_basic, *a, *b, *c;
  explicit Matrices(const BayesGroup& g)
      : transposed(g.scratch),
        transposed_basic(transposed + max_bayes_pitch * max_large_group),
        a(transposed_basic + max_bayes_pitch * max_large_group),
        b(a + max_large_group * max_large_group),
        c(b + max_large_group * max_large_group) {}
};

HWY_INLINE void scale(float* a, int n, float factor) {
  const Floats d;
  const auto f = hn::Set(d, factor);
  for (int i = 0; i < n * n; i += static_cast<int>(hn::Lanes(d)))
    hn::StoreU(hn::Mul(f, hn::LoadU(d, a + i)), d, a + i);
}

HWY_INLINE void add_to_diagonal(float* a, int n, float v) {
  for (int i = 0; i < n; ++i) a[i * (n + 1)] += v;
}

/// Returns the shift of the diagonal of the Gram matrix: the threshold t, but at least the minimum
/// of bayes_precision.h.
HWY_INLINE float shift_of(const float* gram, int n, float t) {
  float largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, gram[i * (n + 1)]);
  return std::max(t, min_float_shift * largest);
}

/// Computes a -= b for the patches of a group.
HWY_INLINE void subtract(float* a, const float* b, const BayesGroup& g) {
  const Floats d;
  for (int i = 0; i < g.group * g.pitch; i += static_cast<int>(hn::Lanes(d)))
    hn::StoreU(hn::Sub(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, a + i);
}

/// Computes to = I - t a, for matrices of `n` rows.
HWY_INLINE void complement(const float* a, int n, float t, float* to) {
  for (int i = 0; i < n * n; ++i) to[i] = -t * a[i];
  add_to_diagonal(to, n, 1);
}

/// Replaces the matrix `squared` = P^2 by 3 P - 2 P^2. The product of the result and P is the
/// sharpened matrix 3 P^2 - 2 P^3.
HWY_INLINE void sharpen(const float* p, float* squared, int n) {
  const Floats d;
  const auto two = hn::Set(d, -2.0f), three = hn::Set(d, 3.0f);
  for (int i = 0; i < n * n; i += static_cast<int>(hn::Lanes(d)))
    hn::StoreU(hn::MulAdd(two, hn::LoadU(d, squared + i), hn::Mul(three, hn::LoadU(d, p + i))), d,
               squared + i);
}

/// Returns the weights for the spectrum of the noisy patches. On entry, at.a is the shifted Gram
/// matrix.
HWY_INLINE float* weights_from_noisy(const Matrices& at, const BayesGroup& g,
                                     const BayesParams& params) {
  const int n = g.group;
  invert(at.a, n);
  float *p = at.b, *s = at.c, *next = at.a;
  complement(at.a, n, params.threshold, p);
  for (int k = 0; k < params.sharpenings; ++k) {
    multiply_symmetric(p, p, s, n);
    sharpen(p, s, n);
    multiply_symmetric(p, s, next, n);
    std::swap(p, next);
  }
  return p;
}

/// Returns the weights for the spectrum of the basic estimate. On entry, at.a is the shifted Gram
/// matrix, and at.transposed the noisy patches minus the basic estimate.
HWY_INLINE float* weights_from_basic(const Matrices& at, const BayesGroup& g,
                                     const BayesParams& params) {
  const int n = g.group;
  invert(at.a, n);
  multiply(at.transposed_basic, at.transposed, at.b, g.samples, n, n, Part::full);
  scale(at.b, n, 1 / static_cast<float>(g.count));
  add_to_diagonal(at.b, n, -params.threshold);
  multiply(at.a, at.b, at.c, n, n, n, Part::full);
  add_to_diagonal(at.c, n, 1);
  return at.c;
}

}  // namespace

void bayes_estimate(const BayesGroup& g, float sigma, const BayesParams& params) {
  const Matrices at(g);
  const float level = centre(g.noisy, g, sigma);
  if (g.basic != nullptr) {
    (void)centre(g.basic, g, sigma);
    subtract(g.noisy, g.basic, g);
  }
  const float* const own = g.basic != nullptr ? g.basic : g.noisy;
  transpose(g.noisy, g, at.transposed);
  if (g.basic != nullptr) transpose(g.basic, g, at.transposed_basic);
  const float* const transposed = g.basic != nullptr ? at.transposed_basic : at.transposed;
  multiply(transposed, transposed, at.a, g.samples, g.group, g.group, Part::lower);
  mirror(at.a, g.group);
  scale(at.a, g.group, 1 / static_cast<float>(g.count));
  add_to_diagonal(at.a, g.group, shift_of(at.a, g.group, params.threshold));
  const float* const weights =
      g.basic != nullptr ? weights_from_basic(at, g, params) : weights_from_noisy(at, g, params);
  multiply(weights, own, g.result, g.group, g.group, g.pitch, Part::full);
  const Floats d;
  const auto unit = hn::Set(d, sigma), mean = hn::Set(d, level);
  for (int i = 0; i < g.count * g.pitch; i += static_cast<int>(hn::Lanes(d)))
    hn::StoreU(hn::MulAdd(unit, hn::LoadU(d, g.result + i), mean), d, g.result + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm3d::cpu {
HWY_EXPORT(bayes_estimate);
void bayes_estimate(const BayesGroup& group, float sigma, const BayesParams& params) {
  HWY_DYNAMIC_DISPATCH(bayes_estimate)(group, sigma, params);
}
}  // namespace lull::bm3d::cpu
#endif
