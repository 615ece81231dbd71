#pragma once
// The plans of the phases, from the parameters, the noise and the format. All backends follow these
// plans.

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "bm3d/params.h"
#include "core/frame.h"
#include "match/guide.h"
#include "time/frame_session.h"

namespace lull::bm3d {

/// The filter that a phase applies to its groups.
enum class Filtering {
  threshold,  // hard threshold of coefficients
  means,      // weighted mean of the patches
  wiener,     // Wiener factors from the coefficients of the basic estimate
};

/// The strength with which a phase filters.
struct Strength {
  /// The strength of the filter. In the first phase, this is the factor lambda in the threshold
  /// lambda * sigma. In the second phase, it is the factor mu2 in the Wiener factor c^2 / (c^2 +
  /// mu2 * sigma^2), where c is a coefficient of the basic estimate.
  float value = 0;
  /// Threshold of the DC coefficient of the transform across the group in the first phase, divided
  /// by the threshold of the other coefficients.
  float mean_factor = 1;
};

struct PhasePlan {
  Phase phase = Phase::first;
  Filtering filter = Filtering::threshold;
  PhaseParams params;
  MeansParams means;
  Strength strength;
  // Noise of the planes in the colour space of the filter (Y, U and V for RGB).
  NoiseModel noise;
  /// The sets of planes with common groups, in processing order. The list excludes noise-free
  /// planes, and planes smaller than a patch.
  std::vector<PlaneSet> sets;
  /// Weight of the noisy picture in the guide: 1 in the first phase, and Params::guide_noise in the
  /// second phase. In guided sessions, the weight is Params::guide_noise in both phases.
  float guide_share = 1;
  std::array<float, patch> window{};  // the aggregation window along one axis

  /// If not 0, the matcher searches the windows only for the reference patches at multiples of this
  /// step. If 0, the matcher searches the windows of all reference patches.
  int search_step = 0;

  /// Returns the matcher parameters for `set`, which must outlive the result. If the guide of the
  /// set combines several planes, the match threshold is larger.
  [[nodiscard]] MatchParams matching(const PlaneSet& set) const {
    MatchParams matching = params.matching();
    matching.tau *= set.tau_factor;
    matching.bias = set.bias.get();
    matching.range = set.range;
    return matching;
  }
  /// Returns the parameters with which the matcher searches the windows. In the first phase, the
  /// matcher may find more members per group than the filter uses, because the second phase can use
  /// them.
  [[nodiscard]] MatchParams searching(const PlaneSet& set) const {
    MatchParams searching = matching(set);
    if (phase == Phase::first) searching.group = std::max(searching.group, set.kept);
    if (search_step > 0) searching.step = search_step;
    return searching;
  }
  /// Returns true if reference patches take their candidates from stored groups.
  [[nodiscard]] bool propagates(const PlaneSet& set) const {
    return phase == Phase::first ? search_step > 0 : set.kept > 0 && !set.same_groups;
  }
  /// Returns true if the phase filters the stored groups and does no matching.
  [[nodiscard]] bool reuses_groups(const PlaneSet& set) const {
    return phase == Phase::second && set.kept > 0 && set.same_groups;
  }
};

/// The phases of BM3D. Each phase has a plan, even if Params::phases excludes the phase.
inline constexpr std::array all_phases{Phase::first, Phase::second};

/// Converts the noise of the planes of the input to the noise of the filtered planes. For RGB, the
/// filtered planes are Y, U and V, with a reduced noise level of Y (opponent_filter_sigma()).
[[nodiscard]] NoiseModel filtered_noise(const NoiseModel& noise, const FrameFormat& format);

/// Returns the plan of a phase, even if Params::phases excludes the phase.
[[nodiscard]] PhasePlan plan_phase(Phase phase, const Params& params, const FrameFormat& format);

/// Returns the maximum number of members of a stored group, over all phases.
[[nodiscard]] constexpr int kept_members(const Params& params) {
  const int next = params.kept > 0 ? std::max(params.kept, params.wiener.group) : 0;
  return std::max(params.hard.group, next);
}
/// Returns the step of the reference patches whose groups the first phase stores.
[[nodiscard]] constexpr int kept_step(const Params& params) {
  return params.search_step > 0 ? params.search_step : params.hard.step;
}
/// Returns the number of bytes of the stored groups of one frame.
[[nodiscard]] std::size_t kept_bytes(const Params& params, const FrameFormat& format);

/// Returns the SessionPlan of BM3D, for a FrameSession (time/frame_session.h).
[[nodiscard]] SessionPlan session_plan(const Params& params, const FrameFormat& format);
/// Returns the SessionPlan of linear combinations. Its phases are the pilot and the iterations.
[[nodiscard]] SessionPlan linear_session_plan(const Params& params, const FrameFormat& format);

}  // namespace lull::bm3d
