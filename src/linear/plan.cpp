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
  p.pilot = {.side = max_pair_side, .group = 24, .step = 4, .window = 15, .pairs = true};
  p.iteration = {.side = 7, .group = 40, .step = 4, .window = 15};
  if (sigma > 30) p.iteration.side = 8, p.iteration.group = 48;
  p.iterations = iterations_over_time;
  p.matchings = 1;
  p.tau0 = 0.7f;
  if (coarseness > 1.5f) {
    p.pilot.side = max_side;
    p.pilot.pairs = false;
    p.iteration.side = coarseness > 4 ? 10 : 8;
  }
  return p;
}

std::vector<SetPlan> plan_sets(const FrameFormat& format, const NoiseModel& noise, bool over_time) {
  std::vector<SetPlan> plans;
  // The planes are divided into sets as in methods that filter over time, even for single pictures:
  // all planes use the groups that are found in luma.
  for (const PlaneSet& set : plane_sets(Phase::second, true, format, noise)) {
    const PlaneNoise& first = noise.plane(set.planes.front());
    const auto parameters = over_time ? parameters_over_time : parameters_for;
    plans.push_back(
        {set, parameters(first.sigma, coarseness_of(first)), guide_range(set, format, noise, 1)});
  }
  return plans;
}

}  // namespace lull::linear
