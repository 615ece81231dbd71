#pragma once
// The parameters of BM3D, in the terms of Honzatko and Krulis 2017 (doi:10.1007/s11554-017-0737-9),
// section 4 and table 1; Lebrun 2012 (doi:10.5201/ipol.2012.l-bm3d) and Dabov 2007
// (doi:10.1109/TIP.2007.901238) are the originals.

#include <array>
#include <optional>

#include "core/denoiser.h"
#include "match/match_params.h"
#include "match/patch_shape.h"
#include "noise/noise_model.h"
#include "time/frames.h"

namespace lull::bm3d {

/// Phases: the first is a hard threshold, the second the Wiener filter; or two by Bayes follow it.
enum class Transform { dct, bior, dft };  // 2D, of a patch; bior: Bior1.5
enum class GroupTransform { haar, wht };  // 1D, across the patches of a group
enum class Profile { fast, balanced, high, best, paper };

/// One phase. Lengths are in samples; distances are mean squared differences of patches on the
/// 0..255 scale.
struct PhaseParams {
  int window = 39;      // n: side of the search window, odd, 1..127
  int group = 16;       // N: patches in a group at most; power of two, 1..32
  int step = 3;         // p: between reference patches, 1..8
  float tau = 2500.0f;  // match threshold, > 0
  Transform transform = Transform::dct;
  GroupTransform group_transform = GroupTransform::haar;
  float kaiser = 0.0f;      // beta of the aggregation window, 0 (no window) .. 4
  int temporal_window = 9;  // side of the window searched in other frames, odd, 1..63
  /// Taken off the distance of the patch where motion predicts it in another frame (group.h), >= 0.
  float place_bonus = 0.0f;
  /// Where the phase propagates in place of a search (match/propagation.h): sides of the windows
  /// that are searched all the same. 1: none; odd, up to `window` and 31.
  int near_window = 1;
  int near_temporal_window = 0;  // 0: none; odd, up to `temporal_window` and 15
  /// Groups are found by clusters (match/clusters.h), in place of windows.
  std::optional<ClusterParams> clusters{};

  /// What its matcher looks for.
  constexpr MatchParams matching() const {
    return {.window = window,
            .group = group,
            .step = step,
            .tau = tau,
            .temporal_window = temporal_window,
            .place_bonus = place_bonus,
            .near_window = near_window,
            .near_temporal_window = near_temporal_window,
            .clusters = clusters};
  }
};

/// A phase that has no transform: a group is filtered by the covariance of its own patches, which
/// lie in two neighbouring frames (docs/how-it-works/best.md). Lebrun, Buades and Morel 2013
/// (doi:10.1137/120874989), over time Arias and Morel 2018 (doi:10.1007/s10851-017-0742-4).
struct BayesParams {
  int side = 8;             // of a patch in either frame, 8..10; less in smaller planes
  int group = 32;           // patches in a group at most, 32 or 64; 32 of the second such phase
  int step = 5;             // between reference patches, 1..8
  int window = 15;          // side of the search window, odd, 1..31
  int temporal_window = 9;  // the same in other frames, odd, 1..15
  float place_bonus = 0;    // as PhaseParams has it, >= 0
  float threshold = 1;      // eigenvalue where half is left, in units of sigma^2, > 0
  /// 0: the Wiener factor l / (l + threshold sigma^2); each makes it steeper there, 0..8. Of the
  /// first such phase alone.
  int sharpenings = 0;
};
/// A first phase that averages in place of transforms (group_means.h): patches become the weighted
/// mean of their group, which Tsai 2016 calls non-local means.
struct MeansParams {
  float h = 0.8f;  // how unlike patches may be that still count, in units of the noise's sigma, > 0
};
/// Whose groups stay as they are. Frame by frame chroma that is smaller than luma is matched in
/// another guide in each phase; all other planes have the groups that were found in luma.
enum class SameGroups { none, luma, all };
/// Params::kept where the second phase does not search.
inline constexpr int usually_kept = 16;
/// Params::search_step at most.
inline constexpr int max_search_step = 16;

struct BatchSize {
  int width = 4096, height = 1088;  // area of reference patches, in samples, >= 16
};

struct Params {
  NoiseModel noise;  // of the planes as they are stored; those with a sigma of 0 pass through
  PhaseParams hard;  // first phase: hard threshold, matched on the noisy image
  PhaseParams wiener{.group = 32, .tau = 400.0f};  // second: Wiener, matched on the basic estimate
  float lambda = 2.7f;       // lambda_3D, threshold of the first phase in units of sigma, >= 0
  float lambda_mean = 1.0f;  // threshold for the mean over a group, in units of the others', >= 0
  float mu2 = 1.0f;          // Wiener factor c^2 / (c^2 + mu2 sigma^2), > 0
  float guide_noise = 0.0f;  // share of the noisy picture in what estimates are matched in, 0..1
  /// Groups of both phases are matched in Frame::guide with guide_noise's share of the noisy
  /// picture, in place of that picture and of the basic estimate. It is a frame of the same size
  /// and planes.
  bool guided = false;
  /// Steps between the reference patches of the first phase that search their windows, those
  /// between them propagate what these find (match/propagation.h): above hard.step, up to 16. 0:
  /// all search.
  int search_step = 0;
  /// Patches that the groups which the first phase's search found keep for the second phase, which
  /// propagates them instead of searching: a power of two up to 32, at least what the first phase's
  /// groups have. 0: it searches. search_where_needed() says where it has to.
  int kept = 0;
  /// Which kept groups the second phase filters as they are. For phases of one step, a second
  /// window that is no smaller, and no search_step: otherwise it propagates.
  SameGroups same_groups = SameGroups::none;
  /// Instead of the second phase: groups matched in the basic estimate, with the spectrum of their
  /// noisy patches, and then with that of a blend of the basic estimate and of what comes of it.
  /// Over time, of white noise.
  bool bayes = false;
  std::array<BayesParams, 2> bayes_phases{};
  /// Instead of the hard threshold; there is no second phase then.
  std::optional<MeansParams> means{};
  int phases = 2;    // 1: the basic estimate is the result; by Bayes there are 3
  int temporal = 0;  // R: patches come from so many frames before and after, 0..8
  /// A frame begins a new scene where a greater share of it than this is not predicted by the
  /// frames before (frame_relation.h), 0..1; 0: never.
  float scene_cut = 0.5f;
  /// Frames may have holes (Frame::holes): patches that reach into one are nobody's candidates.
  /// Grey frames alone.
  bool holes = false;
  BatchSize batch;  // reference patches whose intermediate data exist at a time
};

/// The parameters of a profile for this noise. `paper` is table 1 of the 2017 paper; the others
/// were chosen by measurement (docs/measurements/bm3d-parameters.md). `temporal`: see Params.
[[nodiscard]] Params make_params(Profile profile, const NoiseModel& noise, int temporal = 0);
/// The parameters of means over groups that clusters find (Params::means).
[[nodiscard]] Params make_means_params(Profile profile, const NoiseModel& noise, int temporal = 0,
                                       const ClusterParams& clusters = {});
/// The same for depth maps on the 0..255 scale (noise/depth), which may have holes: planes, flat or
/// slanted, and steps between them. Patches are alike there or not at all, so that the match
/// thresholds are close above what noise alone adds.
[[nodiscard]] Params make_depth_params(Profile profile, const NoiseModel& noise, int temporal = 0);
/// For white noise with these standard deviations.
[[nodiscard]] inline Params make_params(Profile profile, const std::array<float, 3>& sigma,
                                        int temporal = 0) {
  return make_params(profile, NoiseModel(sigma), temporal);
}

/// Of parameters that were changed one by one, sets Params::search_step and Params::kept to 0 where
/// they need a search: where groups are found by clusters or in a guide, where frames have holes,
/// and the first of them where noise is not white or no reference patches lie between those that
/// search; Params::same_groups to what the phases allow; and near windows to no more than windows.
/// open() does so itself; validate() refuses such parameters.
void search_where_needed(Params& params);

/// What a frame's result depends on; it is ready when so many have come after it.
[[nodiscard]] constexpr Margin margin(const Params& params) {
  return margin_of(params.temporal, params.phases);
}

/// @throws InvalidArgument naming the first parameter outside the range given above, or groups kept
///                         for a phase that has to search (search_where_needed())
void validate(const Params& params);

}  // namespace lull::bm3d
