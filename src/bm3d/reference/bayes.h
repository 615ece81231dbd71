#pragma once
// The filter of a Bayes phase in double precision, for the reference backend. A group is filtered
// by the covariance of its own patches (docs/how-it-works/best.md; Lebrun, Buades and Morel 2013,
// doi:10.1137/120874989).

#include <span>

#include "bm3d/params.h"
#include "linear/reference/matrix.h"
#include "match/group.h"
#include "match/reference/matcher.h"

namespace lull::bm3d {

using linear::Matrix;

/// Returns the patches of a group. `planes` are the planes that the matcher uses. If patches extend
/// over two frames, SamplePlane::partner is the second frame.
[[nodiscard]] Matrix gather_wide(std::span<const FramePlane> planes, int x, int y,
                                 const Group& group, PatchShape shape);

/// Returns the Wiener factors of the spectrum as a matrix: M = V f(l) / l V^T, where V l V^T =
/// `gram`. `gram` is the Gram matrix of the patches divided by their number, in units of sigma^2. f
/// is l / (l + threshold), sharpened `sharpenings` times by f <- 3 f^2 - 2 f^3.
[[nodiscard]] Matrix spectral_weights(const Matrix& gram, double threshold, int sharpenings);

/// Returns the estimates of the patches `noisy`, with white noise: B M B^T Y / n. The spectrum M is
/// computed from B = `basic`, which contains either the same patches of an estimate, or the noisy
/// patches themselves. From Y and from B, the mean over all samples is subtracted. The mean of Y is
/// added to the estimates.
[[nodiscard]] Matrix bayes_estimate(const Matrix& noisy, const Matrix& basic, double sigma,
                                    const BayesParams& params);

}  // namespace lull::bm3d
