#pragma once
// The filter of a Bayes phase in double precision, for the reference backend. It follows from the
// covariance of the patches of a group (docs/how-it-works/best.md; Lebrun, Buades and Morel 2013,
// doi:10.1137/120874989).

#include <span>

#include "bm3d/params.h"
#include "linear/reference/matrix.h"
#include "match/group.h"
#include "match/reference/matcher.h"

namespace lull::bm3d {

using linear::Matrix;

/// Returns the patches of a group. `planes` are the planes that the matcher uses. If patches span
/// two frames, SamplePlane::partner is the plane in the second frame.
[[nodiscard]] Matrix gather_wide(std::span<const FramePlane> planes, int x, int y,
                                 const Group& group, PatchShape shape);

/// Returns the Wiener factors of the spectrum as the matrix M = V f(l) / l V^T, where V l V^T is
/// the eigendecomposition of `gram`. `gram` is the Gram matrix of the patches divided by their
/// number, in units of sigma^2. The factor f is l / (l + threshold), sharpened `sharpenings` times
/// by f <- 3 f^2 - 2 f^3.
[[nodiscard]] Matrix spectral_weights(const Matrix& gram, double threshold, int sharpenings);

/// Returns the estimates B M B^T Y / n of the patches `noisy`, with white noise. The columns of Y
/// are the n patches `noisy`, and the columns of B are the patches `basic` (which may be the noisy
/// patches). M is the result of spectral_weights() for B. The function subtracts the means of all
/// samples from Y and from B, and adds the mean of Y to the estimates.
[[nodiscard]] Matrix bayes_estimate(const Matrix& noisy, const Matrix& basic, double sigma,
                                    const BayesParams& params);

}  // namespace lull::bm3d
