#pragma once
// How much noise the coefficients of two patches share. Patches of a group overlap, and noise that
// is not white reaches from one sample to others: so the noise of members is correlated, and what
// the transform across a group makes of it depends on where they lie (Makinen, Azzari, Foi 2020,
// "Collaborative filtering of correlated noise", section III, doi:10.1109/TIP.2020.3014721).

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "noise/noise_model.h"

namespace lull {

/// Rows of the matrix of a 1D transform of 8 samples.
using AxisTransform = std::array<std::array<double, 8>, 8>;

/// A variance is at least this share of what it is a part of: of the noise's, for those of
/// coefficients; of the coefficient's, for those of coefficients of a group. (Estimates of
/// autocorrelations need not be positive definite, and a filter divides by variances.)
inline constexpr double least_coefficient_variance = 1e-6, least_group_variance = 1e-3;

/// Covariances of the noise in the coefficients of two patches of one frame, in units of the
/// noise's variance (sigma^2). For coefficient k = (v, u) of patches d apart
///     c_k(d) = sum over lags of own_k(lag) R(lag + d),
/// where own_k is the autocorrelation of k's basis function and R that of the noise. It is the same
/// for -d. At d = 0 it is the variance, at least least_coefficient_variance.
class PatchCovariance {
 public:
  /// Of patches of `side` x `side` samples, `side` at most 8, under the separable transform whose
  /// axes are the first `side` rows and columns of `rows`.
  PatchCovariance(const PlaneNoise& noise, const AxisTransform& rows, int side = 8);

  /// The longest displacements along the axes at which patches share noise.
  int reach_x() const { return reach_x_; }
  int reach_y() const { return reach_y_; }
  bool reaches(int dx, int dy) const {
    return dx >= -reach_x_ && dx <= reach_x_ && dy >= -reach_y_ && dy <= reach_y_;
  }
  /// side * side covariances, row by row (v, then u), of patches (dx, dy) apart, within the reach.
  std::span<const double> at(int dx, int dy) const {
    return std::span(values_).subspan(index(dx, dy) * coefficients_, coefficients_);
  }

 private:
  /// d and -d are one place: displacements are counted row by row from the middle.
  std::size_t index(int dx, int dy) const {
    const int place = dy * (2 * reach_x_ + 1) + dx;
    return place < 0 ? -place : place;
  }

  int reach_x_, reach_y_;
  std::size_t coefficients_;
  std::vector<double> values_;  // [place][v][u]
};

}  // namespace lull
