#pragma once
// The formulas of non-local means with features. u is the demodulated illumination (the picture
// divided by its albedo). v is the noise variance of u for each pixel and each of C channels.
// Planes continue as mirror images beyond their borders.

// p is the target pixel. Candidates are q = p + m + d, for all displacements d of the disc |d|^2 <=
// S * (S + 1/2). In the target frame, m is 0. In a neighbouring frame, m is the motion vector of
// the motion block (time/motion.h) that contains p.

// Step 1: the distance D_f of two patches with a side of 2 * f + 1 pixels (Rousselle, Manzi,
// Zwicker 2013, doi:10.1111/cgf.12219, equation 4):
//   D_f(p, q) = mean over the patch and the channels of
//               [ (u_p - u_q)^2 - (v_p + min(v_p, v_q)) ] / (v_p + v_q)

// Step 2: the weight w = max(0, 1 - max(0, D_f / k^2) / 8)^8 of a candidate. This weight is close
// to exp(-max(0, D_f / k^2)).

// Step 3: two candidate results F. The colour result is the weighted mean sum(w * u_q) / sum(w).
// Its weights w have the patch radius f = 3 and the strength k = 0.7 (steps 1 and 2).

// The guided result of step 3 is F = a, the constant of a local regression with the linear function
// a + b . g(q) (Bitterli et al. 2016, doi:10.1111/cgf.12954, section 4.1). Its weights w have f = 1
// and k = 1. The regression minimises
//   sum(w * (u_q - a - b . g(q))^2) + sum_j(r_j * b_j^2).

// The vector of the regression is g(q) = (d / S, clamp(x_1(q) - x_1(p), -1, 1), ...). d is the
// displacement of candidate q, S is the search radius, and the x_j are the regressors of light.h,
// for example the depth. The penalty of regressor x_j is r_j = (10^-3 + n_j(p)) * sum(w). n_j is
// the noise variance of x_j, so noisier regressors have less influence.

// Step 4: the error e of each result, by Stein's unbiased risk estimate, averaged over 7 x 7
// pixels. V is the mean of v over 11 x 11 pixels.
//   e = mean over channels of [ (F - u_p)^2 - v_p + 2 * v_p * dF/du_p ] / V_p

// The derivative of F in step 4, with W = sum(w) and x = D_f / k^2:
//   dF/du_p = L + sum over q of [ w' * (u_p - u_q) * (u_q - F) / (v_p + v_q) ] / W,
//   w' = dw/dx * 2 / (k^2 * C * (2 * f + 1)^2).
// L is the derivative at fixed weights: 1 / W for the colour result. At fixed weights, the guided
// result is a linear combination of the samples u_q, and L is the coefficient of u_p.

// Step 5: the result is F_colour + s * (F_guided - F_colour). The share s is the mean of 1 / (1 +
// exp((e_guided - e_colour) / T)) over 5 x 5 pixels, with T = 0.3. Measurements on the scenes of
// samples/render_scene.cpp determined the constants of all steps.

#include <cmath>

#include "noise/render/light.h"

namespace lull::nlm {

struct CandidateFilter {
  int patch_radius;  // f
  float k;
  constexpr int patch() const { return (2 * patch_radius + 1) * (2 * patch_radius + 1); }
};
inline constexpr CandidateFilter colour_filter{3, 0.7f}, guided_filter{1, 1.0f};
inline constexpr int widest_patch = 3;
inline constexpr float ridge = 1e-3f;
inline constexpr float temper = 0.3f;  // T
inline constexpr int level_radius = 5, error_radius = 3, share_radius = 2;

/// Number of coefficients of the linear function: a constant, two for the position, and one for
/// each regressor.
inline constexpr int position_terms = 2, max_coefficients = 1 + position_terms + max_regressors;
constexpr int triangle(int n) { return n * (n + 1) / 2; }

/// Returns whether the displacement (dx, dy) is in the disc of candidates with the search radius S.
constexpr bool is_in_window(int dx, int dy, int search_radius) {
  return 2 * (dx * dx + dy * dy) <= search_radius * (2 * search_radius + 1);
}

/// Mirrors position `i` into an axis of `length` pixels. `i` may be up to `length` pixels outside.
constexpr int mirrored(int i, int length) {
  const int period = 2 * length, j = (i % period + period) % period;
  return j < length ? j : period - 1 - j;
}

/// Returns the term of the distance D_f for one channel of one pixel.
template <class T>
constexpr T difference(T up, T uq, T vp, T vq) {
  const T d = up - uq;
  return (d * d - (vp + (vp < vq ? vp : vq))) / (vp + vq);
}

/// The weight w of a candidate and the derivative w' (step 4 of formulas.h), as functions of x =
/// D_f / k^2.
template <class T>
struct WeightAndSlope {
  T weight, slope;
};
/// Returns the eighth root of the weight. For x <= 0, the result is 1.
template <class T>
constexpr T base_of(T x) {
  const T t = 1 - (x > 0 ? x : 0) / 8;
  return t > 0 ? t : 0;
}
template <class T>
constexpr WeightAndSlope<T> weight_of(T base, T per_sample) {
  const T t2 = base * base, t4 = t2 * t2, t7 = t4 * t2 * base;
  return {t7 * base, base < 1 ? -t7 * per_sample : 0};
}
template <class T>
constexpr WeightAndSlope<T> weigh(T x, T per_sample) {
  return weight_of(base_of(x), per_sample);
}
/// Returns the factor 2 / (k^2 * C * (2 * f + 1)^2) of w' (step 4 of formulas.h).
constexpr double per_sample(CandidateFilter filter, int channels) {
  return 2.0 / (static_cast<double>(filter.k) * static_cast<double>(filter.k) * channels *
                filter.patch());
}

/// Computes the constant a of the linear function by Cholesky decomposition (step 3 of formulas.h),
/// and returns L (step 4). `matrix` is the lower triangle of sum(w * g * g^T). `right` is sum(w * g
/// * u), with `channels` values for each coefficient. The function overwrites `matrix` and `right`.
template <class T>
constexpr T solve_line(T* matrix, T* right, int count, int channels, const T* penalty, T* result) {
  // To get L of step 4, the function also solves the equations with the right-hand side (1, 0, 0,
  // ...). L is the first element of this second solution.
  T unit[max_coefficients] = {1};
  const T total = matrix[0];
  for (int i = 0; i < count; ++i) {
    T* row = matrix + triangle(i);
    if (i > 0) row[i] += penalty[i] * total;
    for (int k = 0; k <= i; ++k) {
      const T* other = matrix + triangle(k);
      T sum = row[k];
      for (int m = 0; m < k; ++m) sum -= row[m] * other[m];
      if (k < i)
        row[k] = sum / other[k];
      else
        row[i] = std::sqrt(sum > total * T(1e-6) ? sum : total * T(1e-6));
    }
    for (int c = 0; c < channels; ++c) {
      T sum = right[i * channels + c];
      for (int k = 0; k < i; ++k) sum -= row[k] * right[k * channels + c];
      right[i * channels + c] = sum / row[i];
    }
    T sum = unit[i];
    for (int k = 0; k < i; ++k) sum -= row[k] * unit[k];
    unit[i] = sum / row[i];
  }
  for (int i = count - 1; i >= 0; --i) {
    for (int c = 0; c < channels; ++c) {
      T sum = right[i * channels + c];
      for (int k = i + 1; k < count; ++k) sum -= matrix[triangle(k) + i] * right[k * channels + c];
      right[i * channels + c] = sum / matrix[triangle(i) + i];
    }
    T sum = unit[i];
    for (int k = i + 1; k < count; ++k) sum -= matrix[triangle(k) + i] * unit[k];
    unit[i] = sum / matrix[triangle(i) + i];
  }
  for (int c = 0; c < channels; ++c) result[c] = right[c];
  return unit[0];
}

}  // namespace lull::nlm
