#include <algorithm>
#include <cmath>

#include "nlm/features/engine.h"

namespace lull::nlm {

void blend(const FeaturePlan& plan, const std::array<PlaneView<const float>, 3>& light,
           const std::array<PlaneView<const float>, 3>& variance, const CandidateResult& colour,
           const CandidateResult& guided, const std::array<PlaneView<float>, 3>& results) {
  Plane<float> share(plan.width, plan.height), level(plan.width, plan.height),
      scratch(plan.width, plan.height);
  const PlaneView<float> s = share.view(), l = level.view();
  for (int y = 0; y < plan.height; ++y) std::fill_n(s.row(y), plan.width, 0.0f);
  // Estimated error of the guided result minus the estimated error of the colour result (step 4 of
  // formulas.h).
  for (int c = 0; c < plan.planes; ++c) {
    box_mean(variance[c], level_radius, scratch.view(), l);
    const auto f = colour.value[c].view(), g = guided.value[c].view();
    const auto df = colour.derivative[c].view(), dg = guided.derivative[c].view();
    for (int y = 0; y < plan.height; ++y)
      for (int x = 0; x < plan.width; ++x) {
        const float u = light[c](x, y), a = f(x, y) - u, b = g(x, y) - u;
        const float cost =
            (b * b - a * a + 2 * variance[c](x, y) * (dg(x, y) - df(x, y))) / l(x, y);
        s(x, y) += cost / static_cast<float>(plan.planes);
      }
  }
  box_mean(s, error_radius, scratch.view(), s);
  for (int y = 0; y < plan.height; ++y)
    for (int x = 0; x < plan.width; ++x) s(x, y) = 1 / (1 + std::exp(s(x, y) / temper));
  box_mean(s, share_radius, scratch.view(), s);
  for (int c = 0; c < plan.planes; ++c) {
    const auto f = colour.value[c].view(), g = guided.value[c].view();
    for (int y = 0; y < plan.height; ++y)
      for (int x = 0; x < plan.width; ++x)
        results[c](x, y) = f(x, y) + s(x, y) * (g(x, y) - f(x, y));
  }
}

}  // namespace lull::nlm
