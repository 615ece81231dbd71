#include "bm3d/phase_plan.h"

#include "bm3d/kaiser.h"
#include "core/colour.h"
#include "match/grid.h"

namespace lull::bm3d {
namespace {

/// Selects the sets of planes (PlaneSet) whose groups the first phase stores. A first phase that
/// propagates groups stores the groups of all sets. Otherwise, the first phase stores only the
/// groups that the second phase reads.
void plan_kept_groups(PhasePlan& plan, const Params& params, const FrameFormat& format) {
  const bool first = plan.phase == Phase::first;
  if (first) plan.search_step = params.search_step;
  for (PlaneSet& set : plan.sets) {
    const bool in_luma = set.planes.front() == 0 || (set.uses_luma && !set.has_chroma());
    const bool by_itself = params.temporal == 0 && format.subsampled();
    const bool next = params.kept > 0 && params.phases > 1 && (in_luma || by_itself);
    if (next || plan.search_step > 0) set.kept = kept_members(params);
    const SameGroups same = in_luma ? SameGroups::luma : SameGroups::all;
    set.same_groups = !first && params.same_groups >= same;
  }
}

Filtering filter_of(Phase phase, const Params& params) {
  if (phase == Phase::first) return params.means ? Filtering::means : Filtering::threshold;
  return Filtering::wiener;
}

}  // namespace

NoiseModel filtered_noise(const NoiseModel& noise, const FrameFormat& format) {
  if (format.layout != Layout::rgb) return noise;
  NoiseModel filtered = noise.in_opponent_space();
  if (!noise.is_of_opponents() && !noise.has_curves())
    filtered.plane(0).sigma = opponent_filter_sigma(noise.sigmas())[0];
  return filtered;
}

PhasePlan plan_phase(Phase phase, const Params& params, const FrameFormat& format) {
  const bool first = phase == Phase::first;
  PhasePlan plan;
  plan.phase = phase;
  plan.filter = filter_of(phase, params);
  plan.params = first ? params.hard : params.wiener;
  // Frame::guide contains little noise, so the matcher uses the match threshold and the motion bias
  // of the second phase.
  if (params.guided) {
    plan.params.tau = params.wiener.tau;
    plan.params.motion_bias = params.wiener.motion_bias;
  }
  if (params.means) plan.means = *params.means;
  plan.strength = first ? Strength{params.lambda, params.lambda_mean} : Strength{params.mu2};
  const NoiseModel noise =
      format.layout == Layout::rgb ? params.noise.in_opponent_space() : params.noise;
  plan.noise = filtered_noise(params.noise, format);
  plan.sets = plane_sets(phase, params.temporal > 0, format, plan.noise);
  if (first && !params.guided)
    for (PlaneSet& set : plan.sets) set.bias = distance_bias(set, format, noise);
  plan_kept_groups(plan, params, format);
  plan.guide_share = first && !params.guided ? 1 : params.guide_noise;
  for (PlaneSet& set : plan.sets)
    set.range = guide_range(set, format, plan.noise, plan.guide_share);
  plan.window = kaiser_window(plan.params.kaiser);
  return plan;
}

std::size_t kept_bytes(const Params& params, const FrameFormat& format) {
  std::size_t bytes = 0;
  for (const PlaneSet& set : plan_phase(Phase::first, params, format).sets) {
    const int plane = set.planes.front(), step = kept_step(params);
    if (set.kept > 0)
      bytes += (sizeof(std::uint32_t) * set.kept + 1) *
               static_cast<std::size_t>(reference_count(format.plane_width(plane), step)) *
               reference_count(format.plane_height(plane), step);
  }
  return bytes;
}

SessionPlan session_plan(const Params& params, const FrameFormat& format) {
  return {.radius = params.temporal,
          .phases = params.phases,
          .scene_cut = params.scene_cut,
          .main_sigma = params.noise.levels_in_samples()[main_plane(format.layout == Layout::rgb)]};
}

SessionPlan linear_session_plan(const Params& params, const FrameFormat& format) {
  SessionPlan plan = session_plan(params, format);
  plan.phases = linear_phases;
  plan.looks_back = true;
  return plan;
}

}  // namespace lull::bm3d
