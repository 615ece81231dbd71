#pragma once
// The weighted mean of a group (Params::means), which all backends compute in the same way. This
// method is non-local means of patches (Tsai 2016) over the groups that a matcher finds, with the
// weights of nlm/weights.h.
//
// 1. The distance of a member m from the reference patch r, in units of the noise variance, over
//    all C planes that are filtered together:
//      D(m) = sum_c 1 / (64 C sigma_c^2) sum_i (I_c(m + i) - I_c(r + i))^2
// 2. The weight of the member m: w(m) = max(0, 1 - max(D - 2, 0) / (8 h^2))^8. Noise alone causes D
//    = 2. The reference patch has the weight 1.
// 3. The mean of the group, in each plane:
//      E_c(i) = I_c(r + i) + sum_m w(m) (I_c(m + i) - I_c(r + i)) / sum_m w(m)
//    This mean is the estimate of every member, and enters the aggregation with the weight of the
//    member. (docs/how-it-works/clusters.md states the gain over an estimate of the reference patch
//    alone.)

#include <cstddef>

#include "bm3d/params.h"
#include "match/patch_shape.h"

namespace lull::bm3d {

/// Converts a distance D to a weight w.
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

/// Returns the factor of the squared differences of a plane in the distance D, if `planes` planes
/// are filtered together.
constexpr float means_scale(float sigma, std::size_t planes) {
  return 1 / (static_cast<float>(planes) * patch * patch * sigma * sigma);
}

}  // namespace lull::bm3d
