#pragma once
// Covariance of the noise in the coefficients of two patches.
//
// In a group, patches overlap, and coloured noise is correlated between samples. The noise variance
// of a group's coefficient therefore depends on the positions of the patches (Makinen, Azzari, Foi
// 2020, "Collaborative filtering of correlated noise", section III, doi:10.1109/TIP.2020.3014721).

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "noise/noise_model.h"

namespace lull {

/// Rows of a transform matrix for 8 samples.
using AxisTransform = std::array<std::array<double, 8>, 8>;

/// Lower bounds of variances, because filters divide by them and estimated autocorrelations need
/// not be positive definite. `min_coefficient_variance` is in units of the noise variance, for a
/// coefficient of a patch. `min_group_variance` is in units of the variance of the patches'
/// coefficient, for a coefficient of a group.
inline constexpr double min_coefficient_variance = 1e-6, min_group_variance = 1e-3;

/// Covariances of the noise in the coefficients of two patches of one frame, in units of sigma^2.
/// For coefficient k = (v, u) of patches with displacement d, they are
///     c_k(d) = sum over lags of own_k(lag) R(lag + d),
/// where own_k is the autocorrelation of k's basis function and R that of the noise. c_k(-d) is
/// equal to c_k(d). c_k(0) is the variance, and at least min_coefficient_variance.
class PatchCovariance {
 public:
  /// Computes the covariances for patches of `side` x `side` samples, `side` at most 8. The basis
  /// functions of the separable transform are the first `side` elements of the first `side` rows of
  /// `rows`.
  PatchCovariance(const PlaneNoise& noise, const AxisTransform& rows, int side = 8);

  /// Longest displacements, along x and along y, at which the noise of two patches is correlated.
  int reach_x() const { return reach_x_; }
  int reach_y() const { return reach_y_; }
  bool reaches(int dx, int dy) const {
    return dx >= -reach_x_ && dx <= reach_x_ && dy >= -reach_y_ && dy <= reach_y_;
  }
  /// Returns the covariances of the side * side coefficients of two patches with displacement (dx,
  /// dy), in row-major order. The displacement must be within reach_x() and reach_y().
  std::span<const double> at(int dx, int dy) const {
    return std::span(values_).subspan(index(dx, dy) * coefficients_, coefficients_);
  }

 private:
  /// Returns the index of a displacement, which is the same for d and -d: the absolute value of the
  /// displacement's number in row order, where (0, 0) has the number 0.
  std::size_t index(int dx, int dy) const {
    const int place = dy * (2 * reach_x_ + 1) + dx;
    return place < 0 ? -place : place;
  }

  int reach_x_, reach_y_;
  std::size_t coefficients_;
  std::vector<double> values_;  // [displacement index][v][u]
};

}  // namespace lull
