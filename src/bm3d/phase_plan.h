#pragma once
// The plan of each phase, made once from the parameters, the noise and the format. All sessions and
// backends follow these plans and decide nothing themselves.

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
  threshold,    // hard threshold of coefficients
  means,        // weighted mean of patches
  wiener,       // Wiener factors from the coefficients of the basic estimate
  bayes_noisy,  // Bayes phase with the covariance of the noisy patches
  bayes_basic,  // Bayes phase with the covariance of the basic estimate's patches
};

/// Between the two Bayes phases, the result of the first one is blended into the basic estimate
/// with this weight.
inline constexpr float bayes_share = 0.6f;
/// The weight of the second Bayes phase in the final result. The rest is the result of the parallel
/// Wiener filter.
inline constexpr float result_share = 0.75f;

/// Strength of the filter.
struct Strength {
  /// Strength of the filter. For Threshold, this is the factor lambda of the threshold lambda *
  /// sigma. For Wiener, this is mu2 in the Wiener factor c^2 / (c^2 + mu2 sigma^2).
  float value = 0;
  /// First phase: threshold of the mean over a group, in units of the other thresholds.
  float mean_factor = 1;
};

struct PhasePlan {
  Phase phase = Phase::first;
  Filtering filter = Filtering::threshold;
  PhaseParams params;  // in Bayes phases only the parameters of the matcher are used
  BayesParams bayes;
  MeansParams means;
  Strength strength;
  NoiseModel noise;  // noise of the planes as they are filtered: Y, U and V for RGB
  /// The sets of planes that share their groups, in the order in which they are filtered. Planes
  /// without noise and planes smaller than a patch are in no set.
  std::vector<PlaneSet> sets;
  /// Share of the noisy picture in the guide. In the first phase it is 1. In the second phase,
  /// whose guide is the basic estimate, it is Params::guide_noise. If a guide comes with the frame,
  /// it is Params::guide_noise in both phases.
  float guide_share = 1;
  std::array<float, patch> window{};  // aggregation window, along one axis

  /// Distance between the reference patches that search in this phase; 0: all search.
  int search_step = 0;

  /// Returns the parameters with which a set is matched. The result refers to `set` and must not
  /// outlive it. The match threshold is larger for guides made of several planes.
  [[nodiscard]] MatchParams matching(const PlaneSet& set) const {
    MatchParams matching = params.matching();
    matching.tau *= set.tau_factor;
    matching.bias = set.bias.get();
    matching.any_size = is_bayes();
    matching.range = set.range;
    return matching;
  }
  /// Returns the parameters of the first phase's search. Its groups may have more members than the
  /// phase filters; the phase then filters the first members.
  [[nodiscard]] MatchParams searching(const PlaneSet& set) const {
    MatchParams searching = matching(set);
    if (phase == Phase::first) searching.group = std::max(searching.group, set.kept);
    if (search_step > 0) searching.step = search_step;
    return searching;
  }
  /// Returns whether reference patches take their candidates from kept groups.
  [[nodiscard]] bool propagates(const PlaneSet& set) const {
    return phase == Phase::first ? search_step > 0 : set.kept > 0 && !set.same_groups;
  }
  /// Returns whether the phase filters the kept groups unchanged.
  [[nodiscard]] bool reuses_groups(const PlaneSet& set) const {
    return phase == Phase::second && set.kept > 0 && set.same_groups;
  }
  [[nodiscard]] bool is_bayes() const {
    return filter == Filtering::bayes_noisy || filter == Filtering::bayes_basic;
  }
  /// Returns the side of the patches in a plane of this size.
  [[nodiscard]] int side(int width, int height) const {
    return is_bayes() ? std::min({bayes.side, width, height}) : patch;
  }
};

/// BM3D's Wiener filter runs in parallel to the third phase, which is the second Bayes phase. It
/// filters the same frames and has its own sums. This value of Phase selects its plan.
inline constexpr Phase parallel_wiener = static_cast<Phase>(3);

/// Returns the number of plans for these parameters: one for each phase, whether Params::phases
/// includes it or not, and with Bayes phases one for the parallel Wiener filter.
[[nodiscard]] constexpr int plan_count(const Params& params) { return params.bayes ? 4 : 2; }
/// Returns whether the parallel Wiener filter runs.
[[nodiscard]] constexpr bool has_parallel_wiener(const Params& params) {
  return params.bayes && params.phases == 3;
}

/// Returns the noise of the planes as they are filtered (Y, U and V for RGB), for the noise of the
/// stored planes. It includes the reduction of luma's level for RGB (opponent_filter_sigma()).
[[nodiscard]] NoiseModel filtered_noise(const NoiseModel& noise, const FrameFormat& format);

/// Returns the plan of a phase, whether Params::phases includes it or not. The parallel Wiener
/// filter works like the second phase of BM3D, and its PhasePlan::phase is Phase::second.
[[nodiscard]] PhasePlan plan_phase(Phase phase, const Params& params, const FrameFormat& format);

/// Returns the maximum number of members of a kept group, which is the largest number that any
/// phase filters.
[[nodiscard]] constexpr int kept_members(const Params& params) {
  const int next = params.kept > 0 ? std::max(params.kept, params.wiener.group) : 0;
  return std::max(params.hard.group, next);
}
/// Returns the distance between the reference patches whose groups are kept.
[[nodiscard]] constexpr int kept_step(const Params& params) {
  return params.search_step > 0 ? params.search_step : params.hard.step;
}
/// Returns the bytes of the groups that are kept for one frame.
[[nodiscard]] std::size_t kept_bytes(const Params& params, const FrameFormat& format);

/// Returns the properties of the method that the session over frames needs.
[[nodiscard]] SessionPlan session_plan(const Params& params, const FrameFormat& format);
/// Returns the same for linear combinations, whose phases are the pilot and the iterations.
[[nodiscard]] SessionPlan linear_session_plan(const Params& params, const FrameFormat& format);

}  // namespace lull::bm3d
