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

std::vector<SetPlan> plan_sets(const FrameFormat& format, const NoiseModel& noise) {
  std::vector<SetPlan> plans;
  // All planes are matched in luma, as in methods that filter over time.
  for (const PlaneSet& set : plane_sets(Phase::second, true, format, noise)) {
    const PlaneNoise& first = noise.plane(set.planes.front());
    plans.push_back({set, parameters_for(first.sigma, coarseness_of(first)),
                     guide_range(set, format, noise, 1)});
  }
  return plans;
}

}  // namespace lull::linear
