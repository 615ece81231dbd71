#pragma once
// What the phases of a session do, decided once from its parameters, its noise and its format. All
// sessions and backends work by these plans, so that none decides for itself.

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "bm3d/params.h"
#include "core/frame.h"
#include "match/guide.h"
#include "time/frame_session.h"

namespace lull::bm3d {

/// What a phase does to its groups.
enum class Filtering {
  threshold,    // hard threshold of coefficients
  means,        // the weighted mean of patches
  wiener,       // Wiener factors by the basic estimate's coefficients
  bayes_noisy,  // the covariance of the noisy patches
  bayes_basic,  // that of the basic estimate's patches
};

/// Between the phases by Bayes the basic estimate becomes so much of what the first of them made,
/// and the rest of what it was.
inline constexpr float bayes_share = 0.6f;
/// The result is so much of what the second of them makes, and the rest of what the Wiener filter
/// beside it does.
inline constexpr float result_share = 0.75f;

/// What a phase does to coefficients.
struct Strength {
  float value = 0;  // lambda: hard threshold lambda * sigma. mu2: c^2 / (c^2 + mu2 sigma^2)
  /// First phase: threshold of the mean over a group, in units of the others'.
  float mean_factor = 1;
};

struct PhasePlan {
  Phase phase = Phase::first;
  Filtering filter = Filtering::threshold;
  PhaseParams params;  // by Bayes what its matcher looks for alone
  BayesParams bayes;
  MeansParams means;
  Strength strength;
  NoiseModel noise;  // of the planes as they are filtered: of Y, U, V for RGB
  /// Planes that share their groups, in the order in which they are filtered. Those without noise
  /// and those smaller than a patch are in none.
  std::vector<PlaneSet> sets;
  /// Share of the noisy picture in the guide: 1 in the first phase, Params::guide_noise in the
  /// second, beside the basic estimate, and in both beside a guide that comes with the frame.
  float guide_share = 1;
  std::array<float, patch> window{};  // aggregation window, one axis

  /// Steps between the reference patches that search for others in this phase; 0: all search.
  int search_step = 0;

  /// What is matched for a set, as long as that exists: several planes together differ by more than
  /// one.
  [[nodiscard]] MatchParams matching(const PlaneSet& set) const {
    MatchParams matching = params.matching();
    matching.tau *= set.tau_factor;
    matching.bias = set.bias.get();
    matching.any_size = is_bayes();
    matching.range = set.range;
    return matching;
  }
  /// The search of the first phase. Groups that are kept may have more members than the phase
  /// filters, which takes their heads.
  [[nodiscard]] MatchParams searching(const PlaneSet& set) const {
    MatchParams searching = matching(set);
    if (phase == Phase::first) searching.group = std::max(searching.group, set.kept);
    if (search_step > 0) searching.step = search_step;
    return searching;
  }
  /// Whether reference patches take their groups from those that were kept.
  [[nodiscard]] bool propagates(const PlaneSet& set) const {
    return phase == Phase::first ? search_step > 0 : set.kept > 0 && !set.same_groups;
  }
  /// Whether they take those as they are.
  [[nodiscard]] bool takes_groups(const PlaneSet& set) const {
    return phase == Phase::second && set.kept > 0 && set.same_groups;
  }
  [[nodiscard]] bool is_bayes() const {
    return filter == Filtering::bayes_noisy || filter == Filtering::bayes_basic;
  }
  /// Side of the patches in a plane of this size.
  [[nodiscard]] int side(int width, int height) const {
    return is_bayes() ? std::min({bayes.side, width, height}) : patch;
  }
};

/// Beside the third phase, by Bayes, there is the Wiener filter of BM3D over the same frames, with
/// sums of its own. Its plan is called for by this name.
inline constexpr Phase beside_third = static_cast<Phase>(3);

/// Plans that these parameters know, whether Params::phases has the phases or not: of the phases,
/// and by Bayes of what is beside the third.
[[nodiscard]] constexpr int known_plans(const Params& params) { return params.bayes ? 4 : 2; }
/// Whether something is beside the third phase.
[[nodiscard]] constexpr bool has_beside(const Params& params) {
  return params.bayes && params.phases == 3;
}

/// The plan of a phase, whether Params::phases has it or not. What is beside the third works as the
/// second phase of BM3D, as which it knows itself.
[[nodiscard]] PhasePlan plan_phase(Phase phase, const Params& params, const FrameFormat& format);

/// Members of a group that is kept, at most: as many as any phase filters that takes it.
[[nodiscard]] constexpr int kept_members(const Params& params) {
  const int next = params.kept > 0 ? std::max(params.kept, params.wiener.group) : 0;
  return std::max(params.hard.group, next);
}
/// Steps between the reference patches whose groups are kept.
[[nodiscard]] constexpr int kept_step(const Params& params) {
  return params.search_step > 0 ? params.search_step : params.hard.step;
}
/// Bytes of the groups that a frame keeps for those that propagate.
[[nodiscard]] std::size_t kept_bytes(const Params& params, const FrameFormat& format);

/// What a session over frames needs to know of these parameters.
[[nodiscard]] SessionPlan session_plan(const Params& params, const FrameFormat& format);

}  // namespace lull::bm3d
