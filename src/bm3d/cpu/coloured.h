// Computes the noise variances of the coefficients of a group, for coloured noise and transforms
// whose basis functions have the norm 1. Variances are in units of sigma^2. filter.cpp includes
// this file once for each instruction set.

// Variances of the Haar transform: For two ranges a and b of members of a group, S(a, b) is the sum
// of the noise covariances of all members in a with all members in b. If a and b are adjacent and
// together have n members, their Haar coefficient has the variance (S(a,a) + S(b,b) - 2 * S(a,b)) /
// n.

// Variances of the Walsh-Hadamard transform of a group of N members: T(x) is the sum of the noise
// covariances of the members m and m XOR x, over all members m. The Walsh-Hadamard transform of the
// N values T(x) / N gives the variances of the N coefficients.

#if defined(LULL_BM3D_CPU_COLOURED_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LULL_BM3D_CPU_COLOURED_H
#undef LULL_BM3D_CPU_COLOURED_H
#else
#define LULL_BM3D_CPU_COLOURED_H
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "bm3d/cpu/kernels.h"
#include "bm3d/cpu/patch.h"
#include "noise/patch_covariance.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

inline constexpr int coefficients = patch * patch;
/// Number of vectors of coefficients that Pairs::sum() sums at a time, in registers.
inline constexpr int summed = coefficients / lanes < 8 ? coefficients / lanes : 8;

/// Lists pairs of members with correlated noise, and sums the noise covariances of the listed
/// pairs. The noise of two members is correlated if their patches are close to each other in one
/// frame.
class Pairs {
 public:
  Pairs(const CovarianceTable& table, const Group& group) : table_(table) {
    std::int16_t x[max_group] = {}, y[max_group] = {}, t[max_group] = {}, index[max_group] = {};
    for (int m = 0; m < group.count; ++m) {
      const int dx = displacement_x(group.members[m]), dy = displacement_y(group.members[m]);
      x[m] = static_cast<std::int16_t>(dx);
      y[m] = static_cast<std::int16_t>(dy);
      t[m] = static_cast<std::int16_t>(displacement_t(group.members[m]));
      // The 16-bit results of table.index() may overflow. If the noise of two members is
      // correlated, the difference of their results is still correct, because these members are
      // only a few samples apart.
      index[m] = static_cast<std::int16_t>(table.index(dx, dy));
    }
    const hn::CappedTag<std::int16_t, 8> d;
    const auto beyond_x = hn::Set(d, static_cast<std::int16_t>(table.reach_x + 1));
    const auto beyond_y = hn::Set(d, static_cast<std::int16_t>(table.reach_y + 1));
    for (int m = 0; m < group.count; ++m)
      for (int n = m / 8 * 8; n < group.count; n += 8) {
        const auto dx = hn::Abs(hn::Sub(hn::LoadU(d, x + n), hn::Set(d, x[m])));
        const auto dy = hn::Abs(hn::Sub(hn::LoadU(d, y + n), hn::Set(d, y[m])));
        const auto near = hn::And(hn::And(hn::Lt(dx, beyond_x), hn::Lt(dy, beyond_y)),
                                  hn::Eq(hn::LoadU(d, t + n), hn::Set(d, t[m])));
        const auto indices = hn::Abs(hn::Sub(hn::LoadU(d, index + n), hn::Set(d, index[m])));
        hn::StoreU(hn::IfThenElse(near, indices, hn::Set(d, none)), d, index_of_[m] + n);
      }
  }

  void clear() { listed_ = 0; }
  /// If the noise of the members m and n is correlated, appends to the list the index of their
  /// covariance in the covariance table. m must be less than n.
  HWY_INLINE void list(int m, int n) {
    const int index = index_of_[m][n];
    indices_[listed_] = static_cast<std::int16_t>(index);
    listed_ += index != none ? 1 : 0;  // without a branch, which could not be predicted
  }

  /// Sums the covariances of all listed pairs, separately for each coefficient of a patch. One call
  /// processes `summed` * `lanes` coefficients, beginning with the index `from`, and writes the
  /// sums to the array `sums` of `summed` vectors.
  HWY_INLINE void sum(int from, Vector* sums) const {
    const Lanes d;
    for (int i = 0; i < summed; ++i) sums[i] = hn::Zero(d);
    for (int k = 0; k < listed_; ++k) {
      const float* const shared = table_.at(indices_[k]) + from;
#pragma GCC unroll 8
      for (int i = 0; i < summed; ++i) sums[i] = hn::Add(sums[i], hn::LoadU(d, shared + i * lanes));
    }
  }

 private:
  static constexpr std::int16_t none = -1;
  const CovarianceTable& table_;
  std::int16_t index_of_[max_group][max_group];  // [m][n], n > m
  int listed_ = 0;
  std::int16_t indices_[max_group * max_group / 4 + 1];
};

HWY_INLINE Vector at_least(Vector variance, Vector of_coefficient) {
  return hn::Max(variance, hn::Mul(of_coefficient, constant(min_group_variance)));
}

/// Divides the coefficients of a patch into ranges, one for each call of Pairs::sum(), and calls
/// what(from) for each range. `from` is the index of the first coefficient of the range.
template <class What>
HWY_INLINE void for_all_summed(const What& what) {
  for (int from = 0; from < coefficients; from += summed * lanes) what(from);
}

/// Computes the noise variances of the Haar coefficients, level by level. At each level, the
/// members form ranges of equal length. Before the level, `variances` contains S(a, a) for each
/// range a, at the index of its first member. S(a, a) is the sum of the noise covariances over all
/// ordered pairs of members of the range.
HWY_INLINE void haar_variances(const CovarianceTable& table, Pairs& pairs, int count,
                               float* variances) {
  const Lanes d;
  const float* const own_variances = table.at(0);
  for (int at = 0; at < coefficients; at += lanes) {
    const Vector of_one = hn::LoadU(d, own_variances + at);
    for (int m = 0; m < count; ++m) hn::StoreU(of_one, d, variances + m * coefficients + at);
  }
  for (int half = 1; half < count; half *= 2)
    for (int first = 0; first < count; first += 2 * half) {
      pairs.clear();
      for (int m = first; m < first + half; ++m)
        for (int n = first + half; n < first + 2 * half; ++n) pairs.list(m, n);
      float* const a = variances + first * coefficients;
      float* const b = a + half * coefficients;
      const Vector share = constant(0.5 / half), two = constant(2);
      for_all_summed([&](int from) HWY_ATTR {
        Vector between[summed];
        pairs.sum(from, between);
#pragma GCC unroll 8
        for (int i = 0; i < summed; ++i) {
          const int at = from + i * lanes;
          const Vector within = hn::Add(hn::LoadU(d, a + at), hn::LoadU(d, b + at));
          const Vector difference = hn::Mul(hn::NegMulAdd(two, between[i], within), share);
          hn::StoreU(hn::MulAdd(two, between[i], within), d, a + at);
          hn::StoreU(at_least(difference, hn::LoadU(d, own_variances + at)), d, b + at);
        }
      });
    }
  for (int at = 0; at < coefficients; at += lanes) {
    const Vector mean = hn::Mul(hn::LoadU(d, variances + at), constant(1.0 / count));
    hn::StoreU(at_least(mean, hn::LoadU(d, own_variances + at)), d, variances + at);
  }
}

HWY_INLINE void walsh_hadamard_variances(const CovarianceTable& table, Pairs& pairs, int count,
                                         float* variances) {
  const Lanes d;
  const float* const own_variances = table.at(0);
  for (int at = 0; at < coefficients; at += lanes)  // T(0) / N
    hn::StoreU(hn::LoadU(d, own_variances + at), d, variances + at);
  for (int x = 1; x < count; ++x) {
    pairs.clear();
    for (int m = 0; m < count; ++m)
      if (m < (m ^ x)) pairs.list(m, m ^ x);
    const Vector share = constant(2.0 / count);  // (m, n) and (n, m) have the same covariance
    for_all_summed([&](int from) HWY_ATTR {
      Vector between[summed];
      pairs.sum(from, between);
#pragma GCC unroll 8
      for (int i = 0; i < summed; ++i)
        hn::StoreU(hn::Mul(between[i], share), d, variances + x * coefficients + from + i * lanes);
    });
  }
  for (int half = 1; half < count; half *= 2)
    for (int x = 0; x < count; ++x) {
      if ((x & half) != 0) continue;
      float* const a = variances + x * coefficients;
      float* const b = a + half * coefficients;
      for (int at = 0; at < coefficients; at += lanes) {
        const Vector va = hn::LoadU(d, a + at), vb = hn::LoadU(d, b + at);
        hn::StoreU(hn::Add(va, vb), d, a + at);
        hn::StoreU(hn::Sub(va, vb), d, b + at);
      }
    }
  for (int w = 0; w < count; ++w)
    for (int at = 0; at < coefficients; at += lanes) {
      float* const variance = variances + w * coefficients + at;
      hn::StoreU(at_least(hn::LoadU(d, variance), hn::LoadU(d, own_variances + at)), d, variance);
    }
}

/// Computes the noise variances of all coefficients of a group. `variances` is an array with one
/// element for each [coefficient across the group][coefficient of a patch], in the order of
/// forward_across().
HWY_NOINLINE void group_variances(const CovarianceTable& table, GroupTransform across,
                                  const Group& group, float* variances) {
  Pairs pairs(table, group);
  if (across == GroupTransform::wht)
    walsh_hadamard_variances(table, pairs, group.count, variances);
  else
    haar_variances(table, pairs, group.count, variances);
}

/// Loads the variances of the coefficients in vector `i` of unit `u` (patch.h). The function is a
/// template, because its code for two patches per vector compiles only for vectors of 16 lanes.
template <class S, int kPatches = patches_per_unit, class D = Lanes>
HWY_INLINE Vector load_variances(const float* stack, int u, int i) {
  const D d;
  const float* const at = stack + variances_in_scratch + u * coefficients;
  if constexpr (kPatches == 2) {
    const hn::Half<D> half;
    const float* const second = at + (S::paired ? S::units * coefficients : 0);
    return hn::Combine(d, hn::LoadU(half, second + i * patch), hn::LoadU(half, at + i * patch));
  } else {
    return hn::LoadU(d, at + i * lanes);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#endif
