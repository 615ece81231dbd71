#include "linear/plan.h"

namespace lull::linear {
namespace {

/// Returns the sum of the autocorrelation of the noise.
float coarseness_of(const PlaneNoise& noise) {
  if (noise.is_white()) return 1;
  float sum = 0;
  for (const float lag : *noise.correlation) sum += lag;
  return sum;
}

}  // namespace

SetParams parameters_over_time(float sigma, float coarseness) {
  SetParams p = parameters_for(sigma, coarseness);
  p.iterations = iterations_over_time;
  p.matchings = 1;
  p.tau0 = 0.7f;
  p.pilot = {.side = max_pair_side, .group = 16, .step = 4, .window = 15, .pairs = true};
  p.iteration = {.side = 7, .group = 40, .step = 4, .window = 9};
  if (coarseness > 1.5f) {
    p.pilot.side = max_side;
    p.pilot.group = coarseness > 4 ? 32 : 24;
    p.pilot.pairs = false;
    p.iteration.side = coarseness > 4 ? 12 : 9;
    p.iteration.group = coarseness > 4 ? 48 : 40;
    p.iteration.window = 11;
    return p;
  }
  // `excess` decreases linearly from 1.15 at noise level 20 to 1 at noise level 35.
  p.excess = sigma <= 20 ? 1.15f : sigma >= 35 ? 1.0f : 1.15f - 0.15f * (sigma - 20) / 15;
  p.alpha = sigma > 30 ? 0.2f : 0.3f;
  if (sigma > 15) {
    p.pilot.temporal_window = sigma > 30 ? 5 : 7;
    p.iteration.group = 48;
  }
  if (sigma > 30) p.iteration.side = 8;
  return p;
}

std::vector<SetPlan> plan_sets(const FrameFormat& format, const NoiseModel& noise, bool over_time,
                               bool guided) {
  std::vector<SetPlan> plans;
  // Single frames have the same sets of planes as temporal filtering (argument `true`): all planes
  // use the groups of the luma plane.
  for (const PlaneSet& set : plane_sets(Phase::second, true, format, noise)) {
    const PlaneNoise& first = noise.plane(set.planes.front());
    const auto parameters = over_time ? parameters_over_time : parameters_for;
    SetPlan& plan = plans.emplace_back();
    plan.set = set;
    plan.params = parameters(first.sigma, coarseness_of(first));
    plan.range = guide_range(set, format, noise, 1);
    // All later searches in the same guide would find the groups of iteration 1.
    if (guided) plan.params.matchings = 1;
  }
  return plans;
}

}  // namespace lull::linear
