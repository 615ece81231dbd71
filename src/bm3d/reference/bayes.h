#pragma once
// Filtering of a group by the covariance of its own patches, in double, for the reference backend
// (docs/how-it-works/best.md; Lebrun, Buades and Morel 2013, doi:10.1137/120874989).

#include <span>
#include <vector>

#include "bm3d/params.h"
#include "match/group.h"
#include "match/reference/matcher.h"

namespace lull::bm3d {

/// A matrix of doubles; of patches each row is one, frame by frame and row by row.
struct Matrix {
  int rows = 0, columns = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(int r, int c)
      : rows(r), columns(c), values(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
  double& operator()(int r, int c) {
    return values[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns) +
                  static_cast<std::size_t>(c)];
  }
  double operator()(int r, int c) const { return const_cast<Matrix&>(*this)(r, c); }
};

/// The patches of a group. `planes`: as the matcher had them; a second frame where they have one.
[[nodiscard]] Matrix gather_wide(std::span<const FramePlane> planes, int x, int y,
                                 const Group& group, PatchShape shape);

/// The factors of the spectrum as a matrix: M = V f(l) / l V^T, where V l V^T = `gram`, the Gram
/// matrix of patches over their number in units of sigma^2, and f is l / (l + threshold), sharpened
/// so many times by f <- 3 f^2 - 2 f^3.
[[nodiscard]] Matrix spectral_weights(const Matrix& gram, double threshold, int sharpenings);

/// Estimates of the patches `noisy`, of white noise: B M B^T Y / n, where the spectrum is that of
/// `basic` = B, the same patches of an estimate, or `noisy` itself. Of both the mean over all
/// samples is taken off; that of Y is added again.
[[nodiscard]] Matrix bayes_estimate(const Matrix& noisy, const Matrix& basic, double sigma,
                                    const BayesParams& params);

}  // namespace lull::bm3d
