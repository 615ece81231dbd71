#include "bm3d/phase_plan.h"

#include <limits>

#include "bm3d/kaiser.h"
#include "core/colour.h"

namespace lull::bm3d {

namespace {

Filtering filter_of(Phase phase, const Params& params) {
  if (phase == Phase::first) return Filtering::threshold;
  if (!params.bayes) return Filtering::wiener;
  return phase == Phase::second ? Filtering::bayes_noisy : Filtering::bayes_basic;
}

/// What is matched for a phase by Bayes: the most similar patches, however far they are.
PhaseParams matched_for(const BayesParams& bayes) {
  return {.window = bayes.window,
          .group = bayes.group,
          .step = bayes.step,
          .tau = std::numeric_limits<float>::max(),
          .temporal_window = bayes.temporal_window,
          .place_bonus = bayes.place_bonus};
}

}  // namespace

PhasePlan plan_phase(Phase phase, const Params& params, const FrameFormat& format) {
  const bool first = phase == Phase::first;
  PhasePlan plan;
  plan.phase = phase;
  plan.filter = filter_of(phase, params);
  plan.params = first ? params.hard : params.wiener;
  if (params.guided) {  // a guide is as an estimate is: matched as the second phase is
    plan.params.tau = params.wiener.tau;
    plan.params.place_bonus = params.wiener.place_bonus;
  }
  if (plan.is_bayes()) {
    plan.bayes = params.bayes_phases[phase == Phase::second ? 0 : 1];
    plan.params = matched_for(plan.bayes);
  }
  plan.strength = first ? Strength{params.lambda, params.lambda_mean} : Strength{params.mu2};
  const bool rgb = format.layout == Layout::rgb;
  const NoiseModel noise = rgb ? params.noise.in_opponent_space() : params.noise;
  plan.noise = noise;
  if (rgb && !params.noise.is_of_opponents() && !params.noise.has_curves())
    plan.noise.plane(0).sigma = opponent_strength(params.noise.sigmas())[0];
  plan.sets = plane_sets(phase, params.temporal > 0, format, plan.noise);
  if (first && !params.guided)
    for (PlaneSet& set : plan.sets) set.bias = distance_bias(set, format, noise);
  plan.guide_share = first && !params.guided ? 1 : params.bayes ? 0 : params.guide_noise;
  plan.window = kaiser_window(plan.params.kaiser);
  return plan;
}

SessionPlan session_plan(const Params& params, const FrameFormat& format) {
  return {params.temporal, params.phases, params.scene_cut,
          params.noise.levels_in_samples()[main_plane(format.layout == Layout::rgb)]};
}

}  // namespace lull::bm3d
