#pragma once
// The weighted mean of a group (Params::means): non-local means of patches (Tsai 2016) over the
// groups of a matcher, with the weights of nlm/weights.h.

// Step 1: The distance D(m) of a member m from the reference patch, in units of the noise variance:
//     D(m) = sum_c sum_i (I_c(m + i) - I_c(r + i))^2 / (64 * C * sigma_c^2)
// - m is the top-left sample of the member, and r is the top-left sample of the reference patch.
// - i runs over the 64 samples of a patch, and c over the C planes that share the group.
// - I_c is plane c, and sigma_c is the noise level of this plane.

// Step 2: The weight w of a member at the distance D, for a filter of strength h. The weight is 1
// up to D = 2, the average distance of two patches that differ only by noise.
//     w = max(0, 1 - max(D - 2, 0) / (8 * h^2))^8

// Step 3: The estimate E of sample i of a group in the plane I. r is the top-left sample of the
// reference patch. m is the top-left sample of a member, and w(m) is the weight of this member.
//     E(i) = I(r + i) + (sum_m w(m) * (I(m + i) - I(r + i))) / (sum_m w(m))

// The filter uses the mean of a group as the estimate of every member. In the aggregation, each
// estimate has the weight of its member. docs/measurements/clusters.md compares this method with
// estimates of only the reference patch.

#include <cstddef>

#include "bm3d/params.h"
#include "match/patch_shape.h"

namespace lull::bm3d {

/// The function that converts the distance of a member to its weight.
struct MeansCurve {
  float slope = 0;

  MeansCurve() = default;
  explicit constexpr MeansCurve(const MeansParams& params) : slope(1 / (8 * params.h * params.h)) {}

  template <class Real>
  constexpr Real operator()(Real distance) const {
    const Real over = distance - 2;
    if (over <= 0) return 1;
    const Real t = 1 - over * static_cast<Real>(slope);
    if (t <= 0) return 0;
    const Real t2 = t * t, t4 = t2 * t2;
    return t4 * t4;
  }
};

/// Returns the factor 1 / (64 * C * sigma_c^2) by which step 1 multiplies the squared differences
/// in one plane. `sigma` is the noise level of the plane, and `planes` is the number C of planes
/// that share the group.
constexpr float means_scale(float sigma, std::size_t planes) {
  return 1 / (static_cast<float>(planes) * patch * patch * sigma * sigma);
}

}  // namespace lull::bm3d
