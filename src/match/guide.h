#pragma once
// The pictures in which the groups of colour planes are matched. All backends match in the same
// ones; docs/measurements/colour.md has what was measured against what.
//
// A frame by itself:
// First phase: luma in itself, the two chroma planes together in (C1 - C2) / sqrt(2), which has the
// level of noise that each of them has, and shows the edges of both (they tend to differ in sign).
// Groups found in luma suit chroma less, although luma shows more.
// Second phase: chroma, and luma where it has chroma's size, in L + (C1 - C2) / sqrt(2) of the
// basic estimates (each with its share of noise), where L is luma brought to the size of chroma,
// and C1 - C2 has the weight `rgb_chroma_weight` for RGB. Its distances are those of up to three
// planes together, so that the match threshold is `colour_tau` times that of grey pictures. A
// chroma plane that passes through takes no part: the other one stands for the difference. If both
// pass through, luma is filtered as a grey picture.
//
// Over time, all planes in luma, brought to their size: other frames have patches that show the
// same thing, and luma tells them best. Where luma passes through, as a frame by itself.

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

[[nodiscard]] bool holds_a_patch(const FrameFormat& format, int plane);
/// Whether any plane is filtered: those without noise and those smaller than a patch pass through.
[[nodiscard]] bool filters_any(const NoiseModel& noise, const FrameFormat& format);

/// Planes of equal size that share their groups in one phase.
struct PlaneSet {
  std::vector<int> planes;
  // What the picture is made of in which they are matched.
  bool of_luma = true;
  std::array<float, 2> of_chroma{};  // weights
  float tau_factor = 1;
  /// Of a noisy picture whose noise is not white; else null.
  std::shared_ptr<const DistanceBias> bias;
  /// First phase: members that groups keep which were searched, for those who propagate them
  /// (propagation.h), 0: none. Second phase: the same where it has these groups, else 0.
  int kept = 0;
  bool same_groups = false;  // second phase: it filters those that were kept as they are
  GuideRange range{};        // of that picture, guide_range()

  bool has_chroma() const { return of_chroma[0] != 0 || of_chroma[1] != 0; }
  /// Whether that picture is made, in chroma's size, and not luma as it is.
  bool is_made() const { return has_chroma() || planes.front() != 0; }
};
/// The sets of a phase, in the order in which they are filtered. `noise`: of the planes as they are
/// filtered (Y, U, V for RGB); those without noise and those smaller than a patch are in none.
[[nodiscard]] std::vector<PlaneSet> plane_sets(Phase phase, bool over_time,
                                               const FrameFormat& format, const NoiseModel& noise);

/// Standard deviation of the noise in the picture that a set is matched in, where `noise` is that
/// of the planes. Luma's share beside chroma is left out.
[[nodiscard]] float guide_sigma(const PlaneSet& set, const FrameFormat& format,
                                const NoiseModel& noise);

/// The values that the picture has which a set is matched in, where it has this share of the noise:
/// those of pictures free of noise, and 3 sigma beyond where samples are not clipped.
[[nodiscard]] GuideRange guide_range(const PlaneSet& set, const FrameFormat& format,
                                     const NoiseModel& noise, float share);

/// MatchParams::bias for the picture that a set is matched in, made of planes with this noise:
/// 2 sigma^2 rho of that picture. Null where it is white.
[[nodiscard]] std::shared_ptr<const DistanceBias> distance_bias(const PlaneSet& set,
                                                                const FrameFormat& format,
                                                                const NoiseModel& noise);

/// By how much the match threshold of the second phase grows for a guide of several planes.
inline constexpr float colour_tau = 4.0f;

/// Of U and V in the second phase's guide beside luma: luma has less noise than they have.
inline constexpr float rgb_chroma_weight = 0.6f;

/// Means of the 2^shift_x x 2^shift_y samples of `fine` that each sample of `coarse` covers; at the
/// right and lower border of those that exist. `coarse` has the size of `fine` shifted, rounded up.
void box_average(PlaneView<const float> fine, int shift_x, int shift_y, PlaneView<float> coarse);

/// sum += weight * plane, sample by sample.
void add_weighted(PlaneView<const float> plane, float weight, PlaneView<float> sum);

}  // namespace lull
