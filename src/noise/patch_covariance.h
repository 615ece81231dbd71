#pragma once
// Covariance of the noise in the coefficients of two patches.

// The noise variance of a group coefficient depends on the positions of the patches, because
// patches overlap and coloured noise is correlated. Source: Makinen, Azzari, Foi 2020,
// "Collaborative filtering of correlated noise", section III, doi:10.1109/TIP.2020.3014721.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "noise/noise_model.h"

namespace lull {

/// Rows of a transform matrix for 8 samples.
using AxisTransform = std::array<std::array<double, 8>, 8>;

/// Lower bounds of variances by which filters divide. min_coefficient_variance is relative to the
/// noise variance. min_group_variance is relative to the noise variance of the patch coefficient.
inline constexpr double min_coefficient_variance = 1e-6, min_group_variance = 1e-3;

/// Covariances of the noise in the coefficients of two patches of one frame, in units of sigma^2.
/// For coefficient k = (v, u) and the displacement d of the patches:
///     c_k(d) = sum over lags of own_k(lag) * R(lag + d),
/// where own_k is the autocorrelation of the basis function of k, and R is the autocorrelation of
/// the noise. c_k(0) is at least min_coefficient_variance.
class PatchCovariance {
 public:
  /// Computes the covariances for patches of `side` x `side` samples, `side` <= 8. Row k of `rows`
  /// contains the basis function k of the transform. The function uses only the first `side` rows,
  /// and their first `side` elements.
  PatchCovariance(const PlaneNoise& noise, const AxisTransform& rows, int side = 8);

  /// Maximum displacements along x and y at which the noise of two patches is correlated.
  int reach_x() const { return reach_x_; }
  int reach_y() const { return reach_y_; }
  bool reaches(int dx, int dy) const {
    return dx >= -reach_x_ && dx <= reach_x_ && dy >= -reach_y_ && dy <= reach_y_;
  }
  /// Returns the covariances of the side * side coefficients, row by row, at the displacement (dx,
  /// dy), within reach_x() and reach_y().
  std::span<const double> at(int dx, int dy) const {
    return std::span(values_).subspan(index(dx, dy) * coefficients_, coefficients_);
  }

 private:
  /// Returns the index of a displacement. Opposite displacements have the same index.
  std::size_t index(int dx, int dy) const {
    const int place = dy * (2 * reach_x_ + 1) + dx;
    return place < 0 ? -place : place;
  }

  int reach_x_, reach_y_;
  std::size_t coefficients_;
  std::vector<double> values_;  // [displacement index][v][u]
};

}  // namespace lull
