#pragma once
// What the phases of a session do, decided once from its parameters, its noise and its format. All
// sessions and backends work by these plans, so that none decides for itself.

#include <array>
#include <vector>

#include "bm3d/params.h"
#include "core/frame.h"
#include "match/guide.h"
#include "time/frame_session.h"

namespace lull::bm3d {

/// What a phase does to coefficients.
struct Strength {
  float value = 0;  // lambda: hard threshold lambda * sigma. mu2: c^2 / (c^2 + mu2 sigma^2)
  /// First phase: threshold of the mean over a group, in units of the others'.
  float mean_factor = 1;
};

struct PhasePlan {
  Phase phase = Phase::first;
  PhaseParams params;
  Strength strength;
  NoiseModel noise;  // of the planes as they are filtered: of Y, U, V for RGB
  /// Planes that share their groups, in the order in which they are filtered. Those without noise
  /// and those smaller than a patch are in none.
  std::vector<PlaneSet> sets;
  /// Share of the noisy picture in the guide: 1 in the first phase, Params::guide_noise in the
  /// second, beside the basic estimate.
  float guide_share = 1;
  std::array<float, patch> window{};  // aggregation window, one axis

  /// What is matched for a set, as long as that exists: several planes together differ by more than
  /// one.
  [[nodiscard]] MatchParams matching(const PlaneSet& set) const {
    MatchParams matching = params.matching();
    matching.tau *= set.tau_factor;
    matching.bias = set.bias.get();
    matching.range = set.range;
    return matching;
  }
};

/// The plan of a phase, whether Params::phases has it or not.
[[nodiscard]] PhasePlan plan_phase(Phase phase, const Params& params, const FrameFormat& format);

/// What a session over frames needs to know of these parameters.
[[nodiscard]] SessionPlan session_plan(const Params& params, const FrameFormat& format);

}  // namespace lull::bm3d
