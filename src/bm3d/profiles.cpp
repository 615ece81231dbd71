// The profiles: parameters that were chosen by measurement, and the paper's.

#include <algorithm>
#include <array>

#include "bm3d/params.h"
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
// noise, and more similar ones come first anyway. Greater values change nothing
// (docs/measurements/bm3d-parameters.md).
float tau_for(float noise) { return std::max(3000.0f, 8 * noise * noise); }

// Of the second phase. The papers' 400 costs 0.01 to 0.04 dB; more than this gains 0.005 dB at
// sigma 10, and nothing above.
constexpr float tau_wiener = 1024;

// Table 1 of the 2017 paper, with Haar across the group, which the table does not name; the paper
// has Walsh-Hadamard (--group-transform wht), which is 0.04 dB worse on the benchmark still.
// For sigma > 40 the paper matches patches that were thresholded in the DCT domain before; matching
// the noisy patches as they are, with a threshold that all patches of equal content pass, gives 0.1
// to 0.2 dB more (docs/measurements/bm3d-parameters.md).
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

// Up to here the first phase's groups serve the second as well as new ones do
// (docs/measurements/propagation.md). Its threshold is a little lower then: what both phases take
// for noise is lost.
constexpr float most_of_same_groups = 25, lambda_of_same_groups = 0.05f;

Params balanced_profile(float noise) {
  Params p = tuned_profile(noise, 5, 25, 25, 16);
  p.kept = usually_kept;
  if (noise > most_of_same_groups) return p;
  p.same_groups = SameGroups::luma;
  p.lambda -= lambda_of_same_groups;
  return p;
}

Params fast_profile(float noise) {
  Params p = tuned_profile(noise, 8, 19, 19, 16);
  p.kept = usually_kept;
  p.same_groups = SameGroups::all;
  return p;
}

// Of coarse noise more is left after the first phase, and the Wiener factor takes the basic
// estimate for better than it is; of noise that is finer than white less is
// (docs/measurements/bm3d-parameters.md).
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

// What candidates from other frames change (docs/measurements/temporal.md has the measurements).
// They show the same thing with fresh noise, so that few patches are enough, and a wide window in
// the frame itself only offers more that are similar by chance. The patch where motion predicts it
// is preferred for the same reason: noise chooses too among those that are most similar.
void look_around(Params& p, float noise) {
  // Of dense grids only every fourth patch needs to search. A second phase with the very groups of
  // the first would lose 0.15 dB, and without near windows 0.02.
  if (p.hard.step == 2) p.search_step = 4;
  p.kept = usually_kept;
  p.same_groups = SameGroups::none;
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
// second that of a better estimate, with smaller groups of smaller patches
// (docs/how-it-works/best.md).
void filter_by_bayes(Params& p, float noise) {
  p.bayes = true;
  p.phases = 3;
  const float bonus = noise * noise / 10;
  p.bayes_phases[0] = {
      .side = 10, .group = 64, .step = 6, .place_bonus = bonus, .threshold = 10, .sharpenings = 3};
  p.bayes_phases[1] = {.side = 8, .group = 32, .step = 4, .place_bonus = bonus, .threshold = 1.3f};
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
    params.same_groups = SameGroups::none;
  }
  if (profile == Profile::best && temporal > 0 && model.is_white()) filter_by_bayes(params, noise);
  return params;
}

// docs/measurements/clusters.md has the measurements.
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

// docs/measurements/depth-maps.md has the measurements. What is below the steps of guides of 8 bits
// cannot be told apart: hence the least thresholds.
Params make_depth_params(Profile profile, const NoiseModel& model, int temporal) {
  Params p = make_params(profile, model, temporal);
  p.holes = true;
  p.kept = p.search_step = 0;  // neighbours' groups do not know a patch's holes
  p.same_groups = SameGroups::none;
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

}  // namespace lull::bm3d
