#pragma once
// The parameters of BM3D, in the terms of Honzatko and Krulis 2017 (doi:10.1007/s11554-017-0737-9),
// section 4 and table 1. The original papers are Dabov 2007 (doi:10.1109/TIP.2007.901238) and
// Lebrun 2012 (doi:10.5201/ipol.2012.l-bm3d).

#include <array>
#include <optional>

#include "core/denoiser.h"
#include "core/params/profile.h"
#include "match/match_params.h"
#include "match/patch_shape.h"
#include "noise/noise_model.h"
#include "time/frames.h"

namespace lull::bm3d {

/// The two phases of BM3D: the first phase applies a hard threshold, and the second phase applies a
/// Wiener filter.
enum class Transform { dct, bior, dft };  // 2D transform of a patch; bior: Bior1.5
enum class GroupTransform { haar, wht };  // 1D transform across the patches of a group
using lull::Profile;

/// Parameters of one phase. Lengths are in samples. Distances are mean squared differences of
/// patches on the 0..255 scale.
struct PhaseParams {
  int window = 39;      // n: side of the search window, odd, 1..127
  int group = 16;       // N: maximum number of members of a group; power of two, 1..32
  int step = 3;         // p: distance between reference patches, 1..8
  float tau = 2500.0f;  // match threshold, > 0
  Transform transform = Transform::dct;
  GroupTransform group_transform = GroupTransform::haar;
  float kaiser = 0.0f;      // beta of the aggregation window, 0 (no window) to 4
  int temporal_window = 9;  // side of the search window in neighbouring frames, odd, 1..63
  /// A motion vector points to one patch in each neighbouring frame. The matcher reduces the
  /// distance of this patch by `motion_bias` (match/group.h), >= 0.
  float motion_bias = 0.0f;
  /// Sides of the refinement windows (match/propagation.h): refine_window in the reference frame,
  /// and refine_temporal_window in neighbouring frames. Only phases with propagation of groups
  /// search these windows. `refine_window` is odd, and at most min(window, 31). If `refine_window`
  /// is 1, there is no window.
  int refine_window = 1;
  int refine_temporal_window = 0;  // odd, at most min(temporal_window, 15); 0: no window
  /// If set, clusters (match/clusters.h) replace the search windows.
  std::optional<ClusterParams> clusters{};

  friend bool operator==(const PhaseParams&, const PhaseParams&) = default;
  /// Returns the parameters for the matcher of this phase.
  constexpr MatchParams matching() const {
    return {.window = window,
            .group = group,
            .step = step,
            .tau = tau,
            .temporal_window = temporal_window,
            .motion_bias = motion_bias,
            .refine_window = refine_window,
            .refine_temporal_window = refine_temporal_window,
            .clusters = clusters};
  }
};

/// Parameters of a first phase that replaces each patch by the weighted mean of its group
/// (group_means.h), without a transform. Tsai 2016 calls this method non-local means.
struct MeansParams {
  /// Filter strength, in units of sigma, > 0. A larger strength increases the weights of patches
  /// that differ from the reference patch.
  float h = 0.8f;
};
/// The planes for which the second phase reuses the groups of the first phase unchanged. `luma`
/// stands for all planes whose groups the matcher finds in luma. With temporal filtering, `luma`
/// includes subsampled chroma. Without temporal filtering, subsampled chroma has its own guide,
/// which differs between the phases.
enum class SameGroups { none, luma, all };
/// The value of Params::kept in profiles whose second phase does not search.
inline constexpr int default_kept = 16;
/// Maximum of Params::search_step.
inline constexpr int max_search_step = 16;

struct BatchSize {
  int width = 4096, height = 1088;  // area that the reference patches cover, in samples, >= 16
};

struct Params {
  /// Noise of the planes of the input, before any colour transform. The session does not filter a
  /// plane with a sigma of 0.
  NoiseModel noise;
  PhaseParams hard;  // first phase: hard threshold, matched on the noisy image
  /// Parameters of the second phase, the Wiener filter. This phase matches patches in the basic
  /// estimate.
  PhaseParams wiener{.group = 32, .tau = 400.0f};
  float lambda = 2.7f;  // lambda_3D: threshold of the first phase in units of sigma, >= 0
  /// Threshold of the mean over a group (group coefficient 0), relative to the thresholds of all
  /// other coefficients, >= 0.
  float lambda_mean = 1.0f;
  float mu2 = 1.0f;          // mu2 in the Wiener factor c^2 / (c^2 + mu2 sigma^2), > 0
  float guide_noise = 0.0f;  // share of the noisy picture in the guides of estimates, 0..1
  /// If true, linear combinations match patches in Frame::guide, and both phases in a mixture of
  /// Frame::guide and the noisy picture, in which the noisy picture has the weight `guide_noise`.
  /// Frame::guide must have the size and planes of the frame. If false, the first phase matches in
  /// the noisy picture, and the second phase in the basic estimate.
  bool guided = false;
  /// If not 0, the first phase searches only for the groups of the reference patches at multiples
  /// of this step. The step is greater than hard.step, and at most 16. All other reference patches
  /// take their candidates from these groups (match/propagation.h). If 0, the first phase searches
  /// for all groups.
  int search_step = 0;
  /// If not 0, the first phase stores its groups, and the second phase takes its candidates from
  /// them instead of a search. `kept` is the maximum number of members of a stored group, a power
  /// of two up to 32. If a phase has a larger group size, this group size is the maximum instead.
  int kept = 0;
  /// Planes for which the second phase does no matching, but filters the groups of the first phase.
  /// Requirements: both phases have the same step, search_step is 0, and the search windows of the
  /// second phase are not smaller than in the first phase.
  SameGroups same_groups = SameGroups::none;
  /// If true, iterated linear combinations of patches (linear/params.h) replace all phases, and the
  /// session ignores the parameters of the phases. Exception: with temporal filtering on a GPU with
  /// little shared memory, the session runs the phases.
  bool linear_combinations = false;
  /// If set, weighted means of groups replace the hard threshold of the first phase, and there is
  /// no second phase.
  std::optional<MeansParams> means{};
  int phases = 2;    // 1: the basic estimate is the result
  int temporal = 0;  // temporal radius R: patches come from R frames before and after, 0..8
  /// Threshold for scene cuts, 0..1. Motion compensation predicts a frame from an earlier frame. If
  /// more than this share of the frame's contrast remains in the prediction residual, the frame
  /// begins a new scene (time/frame_relation.h). The value 0 disables scene cuts.
  float scene_cut = 0.5f;
  /// If true, frames may have holes (missing samples, Frame::holes) and must be grey. Patches that
  /// overlap a hole are not candidates.
  bool holes = false;
  BatchSize batch;  // number of reference patches that are processed together
};

/// Returns the parameters of a profile for `noise`. The profile `paper` is table 1 of the 2017
/// paper. Measurements determine the parameters of all other profiles
/// (docs/measurements/bm3d-parameters.md). `temporal` is the value of Params::temporal.
[[nodiscard]] Params make_params(Profile profile, const NoiseModel& noise, int temporal = 0);
/// Returns the parameters for weighted means (Params::means) over the groups of the cluster
/// matcher.
[[nodiscard]] Params make_means_params(Profile profile, const NoiseModel& noise, int temporal = 0,
                                       const ClusterParams& clusters = {});
/// Returns the parameters for depth maps on the 0..255 scale (noise/depth), which may have holes.
/// The match thresholds are just above the distances that noise alone causes, because two patches
/// of a depth map are either alike or completely different.
[[nodiscard]] Params make_depth_params(Profile profile, const NoiseModel& noise, int temporal = 0);
/// Returns the parameters for white noise with the standard deviations `sigma`.
[[nodiscard]] inline Params make_params(Profile profile, const std::array<float, 3>& sigma,
                                        int temporal = 0) {
  return make_params(profile, NoiseModel(sigma), temporal);
}

/// Adapts the parameters to one another, after a program has changed some of them:
/// - `search_step` and `kept` become 0 with clusters, guides or holes.
/// - `search_step` becomes 0 for coloured noise, and if it is at most hard.step.
/// - `same_groups` becomes `none` if the second phase cannot reuse groups.
/// Search windows limit the size of refinement windows.
void search_where_needed(Params& params);

/// Sets Params::linear_combinations to false if the parameters require the phases instead. This is
/// so if
/// - the parameters request weighted means or clusters, or temporal filtering with a guide or with
///   missing samples (Params::holes), or
/// - a parameter of the phases differs from the profile `best`.
/// search_where_needed() calls this function.
void combine_where_possible(Params& params);

/// Number of steps of temporal linear combinations: the pilot and the iterations.
inline constexpr int linear_phases = 4;

/// Returns the numbers of frames before and after a frame on which the result of the frame depends.
/// A session finishes a frame when it has received the next margin(params).after frames.
[[nodiscard]] constexpr Margin margin(const Params& params) {
  return margin_of(params.temporal, params.linear_combinations ? linear_phases : params.phases);
}

/// Checks the parameters.
/// @throws InvalidArgument  a parameter is outside the range that this file states (the message
///     names the first such parameter), or Params::kept is not 0 although a phase must search
///     (search_where_needed())
void validate(const Params& params);

}  // namespace lull::bm3d
