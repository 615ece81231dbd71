#include "bm3d/phase_plan.h"

#include "bm3d/kaiser.h"
#include "core/colour.h"

namespace lull::bm3d {

PhasePlan plan_phase(Phase phase, const Params& params, const FrameFormat& format) {
  const bool first = phase == Phase::first;
  PhasePlan plan;
  plan.phase = phase;
  plan.params = first ? params.hard : params.wiener;
  plan.strength = first ? Strength{params.lambda, params.lambda_mean} : Strength{params.mu2};
  const bool rgb = format.layout == Layout::rgb;
  const NoiseModel noise = rgb ? params.noise.in_opponent_space() : params.noise;
  plan.noise = noise;
  if (rgb && !params.noise.is_of_opponents() && !params.noise.has_curves())
    plan.noise.plane(0).sigma = opponent_strength(params.noise.sigmas())[0];
  plan.sets = plane_sets(phase, params.temporal > 0, format, plan.noise);
  if (first)
    for (PlaneSet& set : plan.sets) set.bias = distance_bias(set, format, noise);
  plan.guide_share = first ? 1 : params.guide_noise;
  for (PlaneSet& set : plan.sets)
    set.range = guide_range(set, format, plan.noise, plan.guide_share);
  plan.window = kaiser_window(plan.params.kaiser);
  return plan;
}

SessionPlan session_plan(const Params& params, const FrameFormat& format) {
  return {params.temporal, params.phases, params.scene_cut,
          params.noise.levels_in_samples()[main_plane(format.layout == Layout::rgb)]};
}

}  // namespace lull::bm3d
