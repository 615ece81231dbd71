#pragma once
// The filter of a Bayes phase in double precision, from the covariance of the patches of a group
// (docs/how-it-works/best.md; Lebrun, Buades and Morel 2013, doi:10.1137/120874989).

#include <span>

#include "bm3d/params.h"
#include "linear/reference/matrix.h"
#include "match/group.h"
#include "match/reference/matcher.h"

namespace lull::bm3d {

using linear::Matrix;

/// Returns the patches of a group, from the `planes` in which the matcher finds groups. If patches
/// span two frames, SamplePlane::partner is the plane of the second frame.
[[nodiscard]] Matrix gather_wide(std::span<const FramePlane> planes, int x, int y,
                                 const Group& group, PatchShape shape);

/// Returns the Wiener factors as the matrix V f(l) / l V^T, where V l V^T is the eigendecomposition
/// of `gram`, the Gram matrix divided by the number of patches, in units of sigma^2. The factor f
/// is l / (l + threshold), sharpened `sharpenings` times by f <- 3 f^2 - 2 f^3.
[[nodiscard]] Matrix spectral_weights(const Matrix& gram, double threshold, int sharpenings);

/// Returns the estimates B M B^T Y / n of n patches with white noise. The columns of Y and B are
/// the patches `noisy` and `basic`, which may be equal, and M is spectral_weights() of B. The means
/// of all samples are subtracted from Y and B, and the mean of Y is added to the estimates.
[[nodiscard]] Matrix bayes_estimate(const Matrix& noisy, const Matrix& basic, double sigma,
                                    const BayesParams& params);

}  // namespace lull::bm3d
