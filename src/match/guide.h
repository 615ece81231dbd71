#pragma once
// The guides in which the planes of a frame are matched. All backends use the same guides.
// docs/measurements/colour.md has the measurements behind these choices.
//
// Frames denoised one by one:
// - First phase: luma is matched in itself. The two chroma planes are matched together in (C1 - C2)
//   / sqrt(2), which has the noise level of each chroma plane and shows the edges of both (their
//   edges tend to differ in sign). Groups found in luma suit chroma less, although luma has more
//   detail.
// - Second phase: chroma, and luma if it has the size of chroma, is matched in L + (C1 - C2) /
//   sqrt(2) of the basic estimates (each mixed with its share of the noisy plane). L is luma
//   downsampled to the size of chroma. For RGB the weight of C1 - C2 is `rgb_chroma_weight`. The
//   distances in this guide are those of up to three planes together, so the match threshold is
//   `colour_tau` times the threshold for grey pictures. A chroma plane that passes through
//   unfiltered is not part of the guide: the other chroma plane replaces the difference. If both
//   chroma planes pass through, luma is filtered as a grey picture.
//
// Over time: all planes are matched in luma, downsampled to their size. Other frames contain
// patches of the same object, and luma identifies them best. If luma passes through, the rules for
// single frames apply.

#include <array>
#include <memory>
#include <vector>

#include "core/frame.h"
#include "core/image.h"
#include "match/match_params.h"
#include "match/patch_shape.h"
#include "noise/noise_model.h"
#include "time/frames.h"

namespace lull {

[[nodiscard]] bool fits_patch(const FrameFormat& format, int plane);
/// Returns whether the session filters any plane. Planes without noise and planes smaller than a
/// patch pass through.
[[nodiscard]] bool filters_any(const NoiseModel& noise, const FrameFormat& format);

/// Planes of equal size that share their groups in one phase.
struct PlaneSet {
  std::vector<int> planes;
  // The guide is the sum of luma, if `uses_luma`, and the chroma planes times these weights.
  bool uses_luma = true;
  std::array<float, 2> chroma_weights{};
  float tau_factor = 1;
  /// Bias of the distances; null unless the guide is a noisy picture whose noise is not white.
  std::shared_ptr<const DistanceBias> bias;
  /// First phase: number of members of each searched group that are kept for propagation
  /// (propagation.h); 0: no groups are kept. Second phase: the number of the first phase if that
  /// phase kept groups of these planes, else 0.
  int kept = 0;
  bool same_groups = false;  // second phase: filters the kept groups unchanged
  GuideRange range{};        // values of the guide, guide_range()

  bool has_chroma() const { return chroma_weights[0] != 0 || chroma_weights[1] != 0; }
  /// Returns whether the guide is a new picture in the size of chroma, and not the luma plane
  /// itself.
  bool is_composite() const { return has_chroma() || planes.front() != 0; }
};
/// Returns the sets of a phase in the order in which they are filtered. `noise` describes the
/// planes as they are filtered (Y, U, V for RGB). Planes without noise and planes smaller than a
/// patch are in no set.
[[nodiscard]] std::vector<PlaneSet> plane_sets(Phase phase, bool over_time,
                                               const FrameFormat& format, const NoiseModel& noise);

/// Returns the standard deviation of the noise in the guide of a set. `noise` is the noise of the
/// planes. If the guide is a sum of luma and chroma, the noise of luma is neglected.
[[nodiscard]] float guide_sigma(const PlaneSet& set, const FrameFormat& format,
                                const NoiseModel& noise);

/// Returns the range of values in the guide of a set, if the guide contains `share` of the noise.
/// It is the range of noise-free pictures, extended by 3 sigma on both sides unless samples are
/// clipped.
[[nodiscard]] GuideRange guide_range(const PlaneSet& set, const FrameFormat& format,
                                     const NoiseModel& noise, float share);

/// Returns MatchParams::bias for the guide of a set whose planes have this noise: 2 sigma^2 rho of
/// the guide. Returns null if the noise is white.
[[nodiscard]] std::shared_ptr<const DistanceBias> distance_bias(const PlaneSet& set,
                                                                const FrameFormat& format,
                                                                const NoiseModel& noise);

/// Factor of the match threshold in the second phase for a guide of several planes.
inline constexpr float colour_tau = 4.0f;

/// Weight of U and V in the second phase's guide for RGB. It is below 1 / sqrt(2) because luma has
/// less noise than U and V.
inline constexpr float rgb_chroma_weight = 0.6f;

/// Each sample of `coarse` becomes the mean of the 2^shift_x x 2^shift_y samples of `fine` that it
/// covers; at the right and bottom edge it becomes the mean of the samples that exist. `coarse` has
/// the size of `fine` shifted right, rounded up.
void box_average(PlaneView<const float> fine, int shift_x, int shift_y, PlaneView<float> coarse);

/// Adds a plane to a sum: sum += weight * plane, sample by sample.
void add_weighted(PlaneView<const float> plane, float weight, PlaneView<float> sum);

}  // namespace lull
