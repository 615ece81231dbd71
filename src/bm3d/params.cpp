// Checks of the parameters and of their combinations.

#include "bm3d/params.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "core/params/require.h"
#include "match/clusters.h"
#include "match/group.h"

namespace lull::bm3d {
namespace {

constexpr int max_refine_window = 31, max_refine_temporal_window = 15;

void validate_phase(const PhaseParams& p, const std::string& phase) {
  const auto of = [&](const char* what) { return what + (" of the " + phase + " phase"); };
  require(p.window >= 1 && p.window <= 127 && p.window % 2 == 1, of("window"), p.window,
          "odd, from 1 to 127");
  require(p.group >= 1 && p.group <= 32 && std::has_single_bit(static_cast<unsigned>(p.group)),
          of("group"), p.group, "1, 2, 4, 8, 16 or 32");
  require(p.step >= 1 && p.step <= patch, of("step"), p.step, "from 1 to 8");
  require(p.tau > 0 && std::isfinite(p.tau), of("tau"), p.tau, "above 0");
  require(p.kaiser >= 0 && p.kaiser <= 4, of("kaiser"), p.kaiser, "from 0 to 4");
  require(p.temporal_window >= 1 && p.temporal_window <= 63 && p.temporal_window % 2 == 1,
          of("temporal-window"), p.temporal_window, "odd, from 1 to 63");
  require(p.motion_bias >= 0 && std::isfinite(p.motion_bias), of("place-bonus"), p.motion_bias,
          "a number from 0");
  require(p.refine_window >= 1 && p.refine_window <= std::min(p.window, max_refine_window) &&
              p.refine_window % 2 == 1,
          of("near-window"), p.refine_window, "odd, from 1 to the window's side, at most 31");
  require(p.refine_temporal_window == 0 ||
              (p.refine_temporal_window > 0 && p.refine_temporal_window % 2 == 1 &&
               p.refine_temporal_window <= std::min(p.temporal_window, max_refine_temporal_window)),
          of("near-temporal-window"), p.refine_temporal_window,
          "0, or odd, up to the side of the temporal window, at most 15");
  if (!p.clusters) return;
  const ClusterParams& c = *p.clusters;
  require(c.tile >= 8 && c.tile <= max_tile, of("tile of the clusters"), c.tile, "from 8 to 128");
  require(c.leaf >= 8 && c.leaf <= max_leaf, of("leaf of the clusters"), c.leaf, "from 8 to 128");
  require(c.tilings >= 1 && c.tilings <= max_tilings, of("tilings of the clusters"), c.tilings,
          "from 1 to 4");
}

void validate_means(const Params& p) {
  if (!p.means) return;
  require(p.means->h > 0 && std::isfinite(p.means->h), "h of the means over groups", p.means->h,
          "above 0");
  const auto refuse = [](const std::string& what) {
    throw InvalidArgument(what + "; leave one out");
  };
  if (p.phases != 1) refuse("a second phase with means over groups (the means are the result)");
  if (p.guided)
    refuse("a guide with means over groups (the weights depend on the averaged samples alone)");
  if (p.holes) refuse("frames with holes with means over groups (which do not support holes)");
}

bool has_clusters(const Params& p) { return p.hard.clusters || p.wiener.clusters; }

void validate_linear(const Params& p) {
  if (!p.linear_combinations) return;
  const auto refuse = [](const std::string& what) {
    throw InvalidArgument(what + " with linear combinations of patches; choose another profile");
  };
  if (p.guided && p.temporal > 0) refuse("a guide and temporal filtering");
  if (p.holes && p.temporal > 0) refuse("frames with holes and temporal filtering");
  if (p.means) refuse("means over groups");
  if (has_clusters(p)) refuse("clusters");
}

/// Returns true if the second phase can reuse the groups of the first phase (Params::same_groups).
/// The second phase must have the same step, and search windows that are at least as large.
bool can_have_same_groups(const Params& p) {
  return p.kept > 0 && p.search_step == 0 && p.hard.step == p.wiener.step &&
         p.hard.window <= p.wiener.window &&
         (p.temporal == 0 || p.hard.temporal_window <= p.wiener.temporal_window);
}

void validate_propagation(const Params& p) {
  if (p.kept == 0 && p.search_step == 0) return;
  require(
      p.kept == 0 || (p.kept <= max_group && std::has_single_bit(static_cast<unsigned>(p.kept))),
      "patches kept for the second phase", p.kept, "0, or a power of two up to 32");
  require(p.search_step == 0 || (p.search_step > p.hard.step && p.search_step <= max_search_step),
          "search-step", p.search_step,
          "0, or above the first phase's step, up to " + std::to_string(max_search_step));
  const std::string what = p.search_step > 0 ? "reference patches that do not search"
                                             : "a second phase without a search";
  const std::string instead = "; leave out --search-step and --second-search, or ";
  if (has_clusters(p))
    throw InvalidArgument(what + ", with clusters (which replace the windows)" + instead +
                          "--matcher");
  if (p.guided)
    throw InvalidArgument(what + ", with a guide (chroma would lose quality)" + instead +
                          "--guide");
  if (p.holes)
    throw InvalidArgument(what +
                          ", with holes (which the groups of neighbouring patches may overlap)" +
                          instead + "--depth");
  if (p.same_groups != SameGroups::none && !can_have_same_groups(p))
    throw InvalidArgument(
        "a second phase that reuses the groups of the first, with another step, a smaller window "
        "or "
        "a --search-step (some of its patches would have no group); give both phases one --step "
        "and "
        "--window, or --second-search kept");
  if (p.search_step > 0 && !p.noise.is_white())
    throw InvalidArgument(
        what +
        ", with noise that is not white (which makes neighbouring patches look alike); leave out "
        "--search-step");
}

}  // namespace

void combine_where_possible(Params& p) {
  if (!p.linear_combinations) return;
  const Params best = p.holes ? make_depth_params(Profile::best, p.noise, p.temporal)
                              : make_params(Profile::best, p.noise, p.temporal);
  const bool has_phases_of_best = p.hard == best.hard && p.wiener == best.wiener &&
                                  p.lambda == best.lambda && p.lambda_mean == best.lambda_mean &&
                                  p.mu2 == best.mu2 && p.guide_noise == best.guide_noise &&
                                  p.search_step == best.search_step && p.kept == best.kept &&
                                  p.same_groups == best.same_groups && p.phases == best.phases;
  const bool needs_single_frames = p.guided || p.holes;
  p.linear_combinations = has_phases_of_best && !(needs_single_frames && p.temporal > 0) &&
                          !p.means && !has_clusters(p);
}

void search_where_needed(Params& p) {
  const bool searches = has_clusters(p) || p.guided || p.holes;
  combine_where_possible(p);
  if (searches) p.kept = 0;
  if (searches || !p.noise.is_white() || p.search_step <= p.hard.step) p.search_step = 0;
  if (!can_have_same_groups(p)) p.same_groups = SameGroups::none;
  for (PhaseParams* phase : {&p.hard, &p.wiener}) {
    phase->refine_window = std::min(phase->refine_window, phase->window);
    phase->refine_temporal_window = std::min(phase->refine_temporal_window, phase->temporal_window);
  }
}

void validate(const Params& p) {
  validate(p.noise);
  const bool dft = p.hard.transform == Transform::dft || p.wiener.transform == Transform::dft;
  if (!p.noise.is_white() && dft)
    throw InvalidArgument(
        "noise that is not white with the transform dft (only dct and bior support it); "
        "choose one of these");
  validate_phase(p.hard, "first");
  validate_phase(p.wiener, "second");
  require(p.lambda >= 0 && std::isfinite(p.lambda), "lambda", p.lambda, "a number from 0");
  require(p.lambda_mean >= 0 && std::isfinite(p.lambda_mean), "lambda-mean", p.lambda_mean,
          "a number from 0");
  require(p.mu2 > 0 && std::isfinite(p.mu2), "mu2", p.mu2, "above 0");
  require(p.guide_noise >= 0 && p.guide_noise <= 1, "guide-noise", p.guide_noise, "from 0 to 1");
  require(p.phases == 1 || p.phases == 2, "phases", p.phases, "1 or 2");
  validate_propagation(p);
  validate_means(p);
  validate_linear(p);
  if (p.holes && has_clusters(p))
    throw InvalidArgument(
        "frames with holes with clusters (which do not support holes); choose the matcher window");
  require(p.temporal >= 0 && p.temporal <= max_temporal, "temporal", p.temporal, "from 0 to 8");
  require(p.scene_cut >= 0 && p.scene_cut <= 1, "scene-cut", p.scene_cut, "from 0 to 1");
  require(p.batch.width >= 16, "width of a batch", p.batch.width, "at least 16");
  require(p.batch.height >= 16, "height of a batch", p.batch.height, "at least 16");
}

}  // namespace lull::bm3d
