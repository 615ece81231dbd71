#pragma once
// The formulas of non-local means with features, which all backends compute.
//
// u is the demodulated illumination (the picture divided by its albedo). Its noise has the variance
// v, pixel by pixel and channel by channel (C channels). p is the pixel whose result is wanted.
// Candidates q = p + m + d are at each displacement d of a disc, |d|^2 <= S (S + 1/2), in the frame
// itself (m = 0) and in the neighbouring frames, where m is the vector of the motion block
// (time/motion.h) that contains p. Outside a plane, the formulas use the mirror image of the plane.
//
// 1. Distances (Rousselle, Manzi, Zwicker 2013, doi:10.1111/cgf.12219, equation 4) of patches of
//    2 f + 1 pixels a side:
//      D_f(p, q) = mean over the patch and the channels of
//                  [ (u_p - u_q)^2 - (v_p + min(v_p, v_q)) ] / (v_p + v_q)
// 2. Weights w = max(0, 1 - max(0, D_f / k^2) / 8)^8, which is nearly exp(-max(0, D_f / k^2)).
// 3. Two candidate results:
//      colour  f = 3, k = 0.7: F = sum w u_q / sum w
//      guided  f = 1, k = 1:   F = a, where a + b . g(q) is the linear function of the candidates
//            that minimises the sum of w (u_q - a - b . g(q))^2 + sum_j r_j b_j^2: local regression
//            on the features on which light may depend (Bitterli et al. 2016,
//            doi:10.1111/cgf.12954, section 4.1), g(q) = (d / S, clamp(x_1(q) - x_1(p), -1, 1),
//            ...), x_j the regressors of light.h. A regressor that is constant in the window
//            contributes nothing. A regressor with noise of variance n_j has less influence than a
//            regressor without noise: r_j =
//            (10^-3 + n_j(p)) sum w.
// 4. The error of each result, by Stein's unbiased risk estimate:
//      e = mean over channels of [ (F - u_p)^2 - v_p + 2 v_p dF/du_p ] / V_p
//    V is the mean of v over 11 x 11 pixels, and e is then averaged over 7 x 7 pixels. With
//    W = sum w,
//      dF/du_p = L + sum over q of w' (u_p - u_q) (u_q - F) / (v_p + v_q) / W,
//      w' = dw/dx of a weight, where x = D_f / k^2, times 2 / (k^2 C (2 f + 1)^2),
//    L = 1 / W for the colour result; for the guided result L is the share of u_p in a, at fixed
//    weights.
// 5. The share of the guided result is s = 1 / (1 + exp((e_guided - e_colour) / T)), T = 0.3,
//    averaged over 5 x 5 pixels; the result is F_colour + s (F_guided - F_colour).
// k, f, S, T and the floors were chosen on the scenes of samples/render_scene.cpp.

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

/// Number of coefficients of the linear function: one for the constant, two for the position, and
/// one for each regressor.
inline constexpr int position_terms = 2, max_coefficients = 1 + position_terms + max_regressors;
constexpr int triangle(int n) { return n * (n + 1) / 2; }

/// Returns whether the displacement (dx, dy), with |dx| <= S and |dy| <= S, is in the disc of
/// candidates. S is the search radius.
constexpr bool is_in_window(int dx, int dy, int search_radius) {
  return 2 * (dx * dx + dy * dy) <= search_radius * (2 * search_radius + 1);
}

/// Mirrors position `i`, up to `length` outside the plane, into the plane, along an axis of
/// `length` pixels.
constexpr int mirrored(int i, int length) {
  const int period = 2 * length, j = (i % period + period) % period;
  return j < length ? j : period - 1 - j;
}

/// Returns the summand of the distance D_f for one channel of one pixel.
template <class T>
constexpr T difference(T up, T uq, T vp, T vq) {
  const T d = up - uq;
  return (d * d - (vp + (vp < vq ? vp : vq))) / (vp + vq);
}

/// The weight w of a candidate, and the derivative w' (step 4 at the top of this file), as
/// functions of x = D_f / k^2.
template <class T>
struct WeightAndSlope {
  T weight, slope;
};
/// Returns the base of the weight, whose eighth power is the weight. The base is 1 if x <= 0.
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
/// Returns the factor by which dw/dx is multiplied in w' (step 4 at the top of this file).
constexpr double per_sample(CandidateFilter filter, int channels) {
  return 2.0 / (static_cast<double>(filter.k) * static_cast<double>(filter.k) * channels *
                filter.patch());
}

/// Computes the constant a of the linear function (step 3) for each channel by Cholesky
/// decomposition, and returns L (step 4). `matrix` is the lower triangle of sum w g g^T, row by
/// row, for `count` coefficients; the first row and column belong to the constant. `right` is sum w
/// g u, with `channels` values for each coefficient. The function overwrites `matrix` and `right`.
template <class T>
constexpr T solve_line(T* matrix, T* right, int count, int channels, const T* penalty, T* result) {
  // The system is also solved for the right-hand side (1, 0, 0, ...). The first element of this
  // solution is L of step 4.
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
