// The parameters of the profiles. Measurements determine all profiles except `paper`.

#include <algorithm>
#include <array>

#include "bm3d/params.h"
#include "noise/coefficient_table.h"

namespace lull::bm3d {
namespace {

// Returns the noise level of the guide, which is the noise level of the first plane. If the session
// does not filter the first plane, returns the larger noise level of the second and third plane.
float matching_noise(const std::array<float, 3>& sigma) {
  return sigma[0] > 0 ? sigma[0] : std::max(sigma[1], sigma[2]);
}

// Returns the match threshold of the first phase. The threshold exceeds every distance that noise
// alone causes. A larger threshold has no effect (docs/measurements/bm3d-parameters.md).
float tau_for(float noise) { return std::max(3000.0f, 8 * noise * noise); }

// Match threshold of the second phase. The value of the papers, 400, reduces the PSNR by 0.01 to
// 0.04 dB.
constexpr float tau_wiener = 1024;

// Returns the parameters of table 1 of Honzatko and Krulis 2017. The table does not specify the
// transform across the group; this profile uses Haar. The profile omits the thresholding before
// matching for sigma > 40, because the thresholding reduces the PSNR
// (docs/measurements/bm3d-parameters.md).
Params paper_profile(float noise) {
  Params p;
  p.hard = {.window = 39, .group = 16, .step = 3, .tau = noise > 40 ? tau_for(noise) : 2500.0f};
  p.wiener = {.window = 39, .group = 32, .step = 3, .tau = 400.0f};
  p.lambda = 2.7f;
  p.mu2 = 1.0f;
  return p;
}

/// Returns the common parameters of the profiles `fast`, `balanced` and `high`. The two phases have
/// the same step, and may differ in the group size and in the search window.
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
  // The best parameters for weak (sigma 10) and strong noise (sigma 20) differ only slightly.
  const float weak = std::clamp((20 - noise) / 10, 0.0f, 1.0f);
  p.lambda = 2.9f + 0.1f * weak;
  p.lambda_mean = 0.9f - 0.1f * weak;
  p.mu2 = 0.6f + 0.1f * weak;
  p.guide_noise = 0.2f;
  return p;
}

// Returns the parameters of the profile `high`. The first phase has the denser grid of reference
// patches. In the first phase, a dense grid costs less time and increases the PSNR more than in the
// second phase.
Params high_profile(float noise) {
  const bool strong = noise > 20;
  Params p = tuned_profile(noise, 2, 39, strong ? 49 : 39, strong ? 32 : 16);
  p.wiener.step = 3;
  if (noise > 40) p.hard.group = 32;
  return p;
}

// Up to this noise level, the second phase reuses the groups of the first phase
// (docs/measurements/propagation.md). The first phase then has a lower threshold, because the
// second phase cannot recover detail that the first phase removes.
constexpr float max_noise_of_same_groups = 25, same_groups_lambda_reduction = 0.05f;

Params balanced_profile(float noise) {
  Params p = tuned_profile(noise, 5, 25, 25, 16);
  p.kept = default_kept;
  if (noise > max_noise_of_same_groups) return p;
  p.same_groups = SameGroups::luma;
  p.lambda -= same_groups_lambda_reduction;
  return p;
}

Params fast_profile(float noise) {
  Params p = tuned_profile(noise, 8, 19, 19, 16);
  p.kept = default_kept;
  p.same_groups = SameGroups::all;
  return p;
}

// mu2 for coloured noise depends on the share of low frequencies in the noise:
// - `mu2_coarse` if the share is at least as large as in white noise
// - `mu2_nearly_white` if the share is slightly smaller than in white noise
// - `mu2_finest` if the share is 0
// With a small mu2, the filter would treat coarse noise in the basic estimate as signal
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
  const float share = coarse / static_cast<float>(coefficients) / all;  // 1: mu2 as for white noise
  return share >= 1 ? mu2_coarse : mu2_finest + (mu2_nearly_white - mu2_finest) * share;
}

// Adapts the parameters to groups with patches from neighbouring frames
// (docs/measurements/temporal.md). The search window in the reference frame is small, because a
// wide window would only add patches that are similar by chance.
void apply_temporal_tuning(Params& p, float noise) {
  // On dense grids, the matcher searches complete windows only for every second reference patch
  // along each axis. Small refinement windows in neighbouring frames increase the PSNR of the
  // second phase (docs/measurements/propagation.md).
  if (p.hard.step == 2) p.search_step = 4;
  p.kept = default_kept;
  p.same_groups = SameGroups::none;
  p.wiener.refine_temporal_window = 3;
  for (PhaseParams* phase : {&p.hard, &p.wiener}) {
    phase->group = 8;
    phase->window = std::min(phase->window, 15);
    phase->temporal_window = 9;
  }
  p.hard.motion_bias = noise * noise;
  p.wiener.motion_bias = noise * noise / 10;
  const float weak = std::clamp((20 - noise) / 10, 0.0f, 1.0f);
  p.lambda = 2.95f + 0.1f * weak;
  p.mu2 = 0.75f + 0.1f * weak;
  p.guide_noise = 0.1f;
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
  if (temporal > 0) apply_temporal_tuning(params, noise);
  if (!model.is_white()) {  // propagation was not measured for coloured noise
    params.kept = params.search_step = 0;
    params.same_groups = SameGroups::none;
  }
  params.linear_combinations = profile == Profile::best;
  return params;
}

// Parameters for weighted means, from measurements (docs/measurements/clusters.md).
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
  } else if (temporal > 0) {  // neighbouring frames contain more similar patches
    p.means->h = 0.65f;
    p.hard.group = noise <= 30 ? 16 : 32;
    p.hard.motion_bias = noise * noise;
  }
  return p;
}

// Up to this noise level, the profile `best` filters depth maps by linear combinations of patches.
// In stronger noise, the phases of `high` have smaller errors on smooth surfaces.
constexpr float max_noise_of_combined_depths = 15;

// Returns parameters for depth maps, from measurements (docs/measurements/depth-maps.md). The match
// thresholds are never below the quantisation step of the 8-bit guides.
Params make_depth_params(Profile profile, const NoiseModel& model, int temporal) {
  Params p = make_params(profile, model, temporal);
  p.holes = true;
  p.linear_combinations =
      p.linear_combinations && temporal == 0 && model.sigma(0) <= max_noise_of_combined_depths;
  // The matcher must search the window of every reference patch, because only a search excludes
  // patches that overlap holes (missing samples). The groups of neighbouring reference patches
  // would give candidates that overlap holes.
  p.kept = p.search_step = 0;
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
