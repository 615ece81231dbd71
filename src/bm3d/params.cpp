#include "bm3d/params.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "core/error.h"
#include "match/clusters.h"
#include "match/group.h"
#include "noise/coefficient_table.h"

namespace lull::bm3d {
namespace {

// The noise that the groups are matched in: that of the first plane, or of another one where the
// first passes through.
float matching_noise(const std::array<float, 3>& sigma) {
  return sigma[0] > 0 ? sigma[0] : std::max(sigma[1], sigma[2]);
}

// Match threshold of the first phase. Equal patches differ by 2 sigma^2 through the noise alone,
// with a standard deviation of 0.18 of that; so patches of equal content must pass whatever the
// noise, and more similar ones come first anyway. Greater values change nothing (docs/bm3d.md).
float tau_for(float noise) { return std::max(3000.0f, 8 * noise * noise); }

// Of the second phase. The papers' 400 costs 0.01 to 0.04 dB; more than this gains 0.005 dB at
// sigma 10, and nothing above.
constexpr float tau_wiener = 1024;

// Table 1 of the 2017 paper, with Haar across the group, which the table does not name; the paper
// has Walsh-Hadamard (--group-transform wht), which is 0.04 dB worse on the benchmark still.
// For sigma > 40 the paper matches patches that were thresholded in the DCT domain before; matching
// the noisy patches as they are, with a threshold that all patches of equal content pass, gives 0.1
// to 0.2 dB more (docs/bm3d.md).
Params paper_profile(float noise) {
  Params p;
  p.hard = {.window = 39, .group = 16, .step = 3, .tau = noise > 40 ? tau_for(noise) : 2500.0f};
  p.wiener = {.window = 39, .group = 32, .step = 3, .tau = 400.0f};
  p.lambda = 2.7f;
  p.mu2 = 1.0f;
  return p;
}

/// What `fast`, `balanced` and `high` have in common: the same sizes in both phases but for the
/// second's group and window.
Params tuned_profile(float noise, int step, int window, int wiener_window, int wiener_group) {
  Params p;
  p.hard = {.window = window,
            .group = 16,
            .step = step,
            .tau = tau_for(noise),
            .transform = Transform::bior,
            .kaiser = 2.5f};
  p.wiener = {.window = wiener_window,
              .group = wiener_group,
              .step = step,
              .tau = tau_wiener,
              .kaiser = 2.5f};
  // From weak noise (sigma 10) to strong (20) the optimum moves that little.
  const float weak = std::clamp((20 - noise) / 10, 0.0f, 1.0f);
  p.lambda = 2.9f + 0.1f * weak;
  p.lambda_mean = 0.9f - 0.1f * weak;
  p.mu2 = 0.6f + 0.1f * weak;
  p.guide_noise = 0.2f;
  return p;
}

// The denser grid pays most in the first phase, and costs least there. Groups of 32 and the wider
// window only pay against strong noise.
Params high_profile(float noise) {
  const bool strong = noise > 20;
  Params p = tuned_profile(noise, 2, 39, strong ? 49 : 39, strong ? 32 : 16);
  p.wiener.step = 3;
  if (noise > 40) p.hard.group = 32;
  return p;
}

// Up to here the first phase's groups serve the second as well as new ones do (docs/bm3d.md). Its
// threshold is a little lower then: what both phases take for noise is lost.
constexpr float most_of_same_groups = 25, lambda_of_same_groups = 0.05f;

Params balanced_profile(float noise) {
  Params p = tuned_profile(noise, 5, 25, 25, 16);
  p.kept = usually_kept;
  p.same_groups = noise <= most_of_same_groups;
  if (p.same_groups) p.lambda -= lambda_of_same_groups;
  return p;
}

Params fast_profile(float noise) {
  Params p = tuned_profile(noise, 8, 19, 19, 16);
  p.kept = usually_kept;
  p.same_groups = true;
  return p;
}

// Of coarse noise more is left after the first phase, and the Wiener factor takes the basic
// estimate for better than it is; of noise that is finer than white less is (docs/bm3d.md).
constexpr float mu2_coarse = 1.3f, mu2_finest = 0.4f, mu2_nearly_white = 0.65f;

float mu2_coloured(const NoiseModel& model) {
  int plane = 0;
  while (plane < 2 && model.sigma(plane) == 0) ++plane;
  const CoefficientTable table = table_of(model.plane(plane));
  float coarse = 0, all = 0;  // variances
  int coefficients = 0;
  for (int k = 0; k < 64; ++k) {
    all += table[k] / 64;
    if (k > 0 && k / 8 + k % 8 <= 3) coarse += table[k], ++coefficients;
  }
  const float share = coarse / static_cast<float>(coefficients) / all;  // 1: as white noise
  return share >= 1 ? mu2_coarse : mu2_finest + (mu2_nearly_white - mu2_finest) * share;
}

// What candidates from other frames change (docs/bm3d.md has the measurements). They show the same
// thing with fresh noise, so that few patches are enough, and a wide window in the frame itself
// only offers more that are similar by chance. The patch where motion predicts it is preferred for
// the same reason: noise chooses too among those that are most similar.
void look_around(Params& p, float noise) {
  // Of dense grids only every fourth patch needs to search. A second phase with the very groups of
  // the first would lose 0.15 dB, and without near windows 0.02.
  if (p.hard.step == 2) p.search_step = 4;
  p.kept = usually_kept;
  p.same_groups = false;
  p.wiener.near_temporal_window = 3;
  for (PhaseParams* phase : {&p.hard, &p.wiener}) {
    phase->group = 8;
    phase->window = std::min(phase->window, 15);
    phase->temporal_window = 9;
  }
  p.hard.place_bonus = noise * noise;
  p.wiener.place_bonus = noise * noise / 10;
  const float weak = std::clamp((20 - noise) / 10, 0.0f, 1.0f);
  p.lambda = 2.95f + 0.1f * weak;
  p.mu2 = 0.75f + 0.1f * weak;
  p.guide_noise = 0.1f;
}

// Where things move, the covariance of a group of patches that span two frames tells more than any
// fixed transform. The first of the two phases by Bayes has the noisy patches' own spectrum, the
// second that of a better estimate, with smaller groups of smaller patches (docs/bm3d.md).
void filter_by_bayes(Params& p, float noise) {
  p.bayes = true;
  p.phases = 3;
  const float bonus = noise * noise / 10;
  p.bayes_phases[0] = {
      .side = 10, .group = 64, .step = 6, .place_bonus = bonus, .threshold = 10, .sharpenings = 3};
  p.bayes_phases[1] = {.side = 8, .group = 32, .step = 5, .place_bonus = bonus, .threshold = 1.3f};
}

void require(bool holds, const std::string& what, double value, const std::string& range) {
  if (holds) return;
  std::string number = std::to_string(value);
  if (number.find('.') != std::string::npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
  }
  throw InvalidArgument(what + " = " + number + " (must be " + range + "); choose one in range");
}

constexpr int most_near = 31, most_near_in_others = 15;

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
  require(p.place_bonus >= 0 && std::isfinite(p.place_bonus), of("place-bonus"), p.place_bonus,
          "a number from 0");
  require(p.near_window >= 1 && p.near_window <= std::min(p.window, most_near) &&
              p.near_window % 2 == 1,
          of("near-window"), p.near_window, "odd, from 1 to the window's side, at most 31");
  require(p.near_temporal_window == 0 ||
              (p.near_temporal_window > 0 && p.near_temporal_window % 2 == 1 &&
               p.near_temporal_window <= std::min(p.temporal_window, most_near_in_others)),
          of("near-temporal-window"), p.near_temporal_window,
          "0, or odd, up to the side of the temporal window, at most 15");
  if (!p.clusters) return;
  const ClusterParams& c = *p.clusters;
  require(c.tile >= 8 && c.tile <= max_tile, of("tile of the clusters"), c.tile, "from 8 to 128");
  require(c.leaf >= 8 && c.leaf <= max_leaf, of("leaf of the clusters"), c.leaf, "from 8 to 128");
  require(c.tilings >= 1 && c.tilings <= max_tilings, of("tilings of the clusters"), c.tilings,
          "from 1 to 4");
}

void validate_bayes(const Params& params) {
  if (params.holes)
    throw InvalidArgument(
        "frames with holes with the profile best over time (its phases know no holes); choose "
        "another profile");
  if (params.guided)
    throw InvalidArgument(
        "a guide with the profile best over time (each of its phases is matched in the estimate of "
        "the one before); choose another profile");
  if (!params.noise.is_white())
    throw InvalidArgument(
        "noise that is not white with phases by Bayes (they take it for white); choose a profile "
        "again for this noise");
  if (params.temporal == 0)
    throw InvalidArgument(
        "phases by Bayes without neighbours in time (their patches lie in two frames); give a "
        "temporal radius of 1 to 8, or choose another profile");
  const BayesParams& last = params.bayes_phases[1];
  require(last.group == 32, "group of the second phase by Bayes", last.group, "32");
  require(last.sharpenings == 0, "sharpenings of the second phase by Bayes", last.sharpenings, "0");
  for (const BayesParams& p : params.bayes_phases) {
    const auto of = [&](const char* what) { return what + std::string(" of a phase by Bayes"); };
    require(p.side >= patch && p.side <= max_wide_side, of("side"), p.side, "from 8 to 10");
    require(p.group == 32 || p.group == 64, of("group"), p.group, "32 or 64");
    require(p.step >= 1 && p.step <= patch, of("step"), p.step, "from 1 to 8");
    require(p.window >= 1 && p.window <= 31 && p.window % 2 == 1, of("window"), p.window,
            "odd, from 1 to 31");
    require(p.temporal_window >= 1 && p.temporal_window <= 15 && p.temporal_window % 2 == 1,
            of("temporal-window"), p.temporal_window, "odd, from 1 to 15");
    require(p.place_bonus >= 0 && std::isfinite(p.place_bonus), of("place-bonus"), p.place_bonus,
            "a number from 0");
    require(p.threshold > 0 && std::isfinite(p.threshold), of("threshold"), p.threshold, "above 0");
    require(p.sharpenings >= 0 && p.sharpenings <= 8, of("sharpenings"), p.sharpenings,
            "from 0 to 8");
  }
}

void validate_means(const Params& p) {
  if (!p.means) return;
  require(p.means->h > 0 && std::isfinite(p.means->h), "h of the means over groups", p.means->h,
          "above 0");
  const auto refuse = [](const std::string& what) {
    throw InvalidArgument(what + "; leave one out");
  };
  if (p.phases != 1) refuse("a second phase with means over groups (they are the result)");
  if (p.guided) refuse("a guide with means over groups (they weigh what they average)");
  if (p.holes) refuse("frames with holes with means over groups (which know no holes)");
}

bool has_clusters(const Params& p) { return p.hard.clusters || p.wiener.clusters; }

/// Params::same_groups: each reference patch of the second phase has a group that it can filter.
bool can_have_same_groups(const Params& p) {
  return p.kept > 0 && p.search_step == 0 && p.hard.step == p.wiener.step &&
         p.hard.window <= p.wiener.window && !p.bayes &&
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
    throw InvalidArgument(what + ", with clusters (which are no windows)" + instead + "--matcher");
  if (p.guided)
    throw InvalidArgument(what + ", with a guide (colours lose by it)" + instead + "--guide");
  if (p.holes)
    throw InvalidArgument(what +
                          ", with holes (where neighbours find what others must not look at)" +
                          instead + "--depth");
  if (p.same_groups && !can_have_same_groups(p))
    throw InvalidArgument(
        "a second phase with the groups of the first, with other steps, a smaller window or a "
        "--search-step (its patches have none); give both phases one --step and --window, or "
        "--second-search kept");
  if (p.search_step > 0 && !p.noise.is_white())
    throw InvalidArgument(
        what +
        ", with noise that is not white (which makes neighbours alike); leave out "
        "--search-step");
}

}  // namespace

Params make_params(Profile profile, const NoiseModel& model, int temporal) {
  const float noise = matching_noise(model.sigmas());
  Params params = profile == Profile::fast       ? fast_profile(noise)
                  : profile == Profile::balanced ? balanced_profile(noise)
                  : profile == Profile::paper    ? paper_profile(noise)
                                                 : high_profile(noise);
  params.noise = model;
  params.temporal = temporal;
  if (profile == Profile::paper) return params;
  if (!model.is_white()) params.mu2 = mu2_coloured(model);
  if (temporal > 0) look_around(params, noise);
  if (!model.is_white()) {  // not measured
    params.kept = params.search_step = 0;
    params.same_groups = false;
  }
  if (profile == Profile::best && temporal > 0 && model.is_white()) filter_by_bayes(params, noise);
  return params;
}

// docs/clusters.md has the measurements.
Params make_means_params(Profile profile, const NoiseModel& model, int temporal,
                         const ClusterParams& clusters) {
  const float noise = matching_noise(model.sigmas());
  Params p;
  p.noise = model;
  p.temporal = temporal;
  p.phases = 1;
  const bool strong = noise > 22;
  p.means = MeansParams{.h = strong ? std::max(0.95f - 0.01f * noise, 0.45f)
                                    : std::min(1.04f - 0.009f * noise, 1.0f)};
  p.hard = {.group = strong ? 32 : 16,
            .step = profile == Profile::fast       ? 5
                    : profile == Profile::balanced ? 3
                                                   : 2,
            .tau = tau_for(noise),
            .kaiser = 2.5f,
            .clusters = clusters};
  if (profile == Profile::paper) {
    p.hard.group = 16;
    p.hard.step = 1;
    p.hard.kaiser = 0;
  } else if (temporal > 0) {  // other frames have what is more alike
    p.means->h = 0.65f;
    p.hard.group = noise <= 30 ? 16 : 32;
    p.hard.place_bonus = noise * noise;
  }
  return p;
}

// docs/guides.md has the measurements. What is below the steps of guides of 8 bits cannot be told
// apart: hence the least thresholds.
Params make_depth_params(Profile profile, const NoiseModel& model, int temporal) {
  Params p = make_params(profile, model, temporal);
  p.holes = true;
  p.kept = p.search_step = 0;  // neighbours' groups do not know a patch's holes
  p.same_groups = false;
  if (profile == Profile::paper) return p;
  const float variance = model.sigma(0) * model.sigma(0);
  p.hard.tau = std::max(2.8f * variance, 2.0f);
  p.wiener.tau = std::max(1.5f * variance, 1.0f);
  p.hard.kaiser = p.wiener.kaiser = 1;
  p.lambda = 3.1f;
  p.mu2 = 0.8f;
  if (temporal > 0 || profile == Profile::fast) return p;
  p.wiener.group = 32;
  if (profile == Profile::balanced) {
    p.hard.step = p.wiener.step = 3;
    p.hard.window = p.wiener.window = 39;
  } else {
    p.hard.group = 32;
    p.hard.step = p.wiener.step = 2;
    p.hard.window = p.wiener.window = 51;
  }
  return p;
}

void search_where_needed(Params& p) {
  const bool searches = has_clusters(p) || p.guided || p.holes;
  if (searches) p.kept = 0;
  if (searches || !p.noise.is_white() || p.search_step <= p.hard.step) p.search_step = 0;
  p.same_groups = p.same_groups && can_have_same_groups(p);
  for (PhaseParams* phase : {&p.hard, &p.wiener}) {
    phase->near_window = std::min(phase->near_window, phase->window);
    phase->near_temporal_window = std::min(phase->near_temporal_window, phase->temporal_window);
  }
}

void validate(const Params& p) {
  validate(p.noise);
  const bool dft = p.hard.transform == Transform::dft || p.wiener.transform == Transform::dft;
  if (!p.noise.is_white() && dft)
    throw InvalidArgument(
        "noise that is not white with the transform dft (only dct and bior know its spectrum); "
        "choose one of these");
  validate_phase(p.hard, "first");
  validate_phase(p.wiener, "second");
  require(p.lambda >= 0 && std::isfinite(p.lambda), "lambda", p.lambda, "a number from 0");
  require(p.lambda_mean >= 0 && std::isfinite(p.lambda_mean), "lambda-mean", p.lambda_mean,
          "a number from 0");
  require(p.mu2 > 0 && std::isfinite(p.mu2), "mu2", p.mu2, "above 0");
  require(p.guide_noise >= 0 && p.guide_noise <= 1, "guide-noise", p.guide_noise, "from 0 to 1");
  if (p.bayes) {
    validate_bayes(p);
    require(p.phases >= 1 && p.phases <= 3, "phases", p.phases, "1, 2 or 3");
  } else {
    require(p.phases == 1 || p.phases == 2, "phases", p.phases, "1 or 2");
  }
  validate_propagation(p);
  validate_means(p);
  if (p.holes && has_clusters(p))
    throw InvalidArgument(
        "frames with holes with clusters (which know no holes); choose the matcher window");
  require(p.temporal >= 0 && p.temporal <= max_temporal, "temporal", p.temporal, "from 0 to 8");
  require(p.scene_cut >= 0 && p.scene_cut <= 1, "scene-cut", p.scene_cut, "from 0 to 1");
  require(p.batch.width >= 16, "width of a batch", p.batch.width, "at least 16");
  require(p.batch.height >= 16, "height of a batch", p.batch.height, "at least 16");
}

}  // namespace lull::bm3d
