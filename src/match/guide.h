#pragma once
// Chooses the guides in which the matcher compares patches. All backends use the same guides. The
// page docs/measurements/colour.md contains the measurements on which the choice is based.

// First phase, without temporal filtering: the guide of luma is luma. The guide of the chroma
// planes C1 and C2 is (C1 - C2) / sqrt(2), because the edges of C1 and C2 usually have opposite
// signs.

// Second phase, without temporal filtering: the guide of the chroma planes C1 and C2 is L + (C1 -
// C2) / sqrt(2). L is luma, downsampled to the size of chroma. L, C1 and C2 are weighted means of
// the basic estimates and the noisy planes.

// In the second phase, planes of equal size share their groups.

// In the second phase, a distance is a sum over up to three planes. The match threshold is
// therefore larger by the factor `colour_tau`.

// If the session filters only one of the chroma planes C1 and C2, the guides contain C1 or -C2
// instead of (C1 - C2) / sqrt(2). If the session filters no chroma plane, it filters luma as a grey
// picture.

// With temporal filtering, the matcher compares patches of all planes in downsampled luma, which
// best identifies the same object in other frames.

// If the session does not filter luma, the guides are the same with and without temporal filtering.

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
/// Returns whether any plane has noise and is at least as large as a patch. The session does not
/// filter other planes.
[[nodiscard]] bool filters_any(const NoiseModel& noise, const FrameFormat& format);

/// Planes of equal size that a phase filters with the same groups.
struct PlaneSet {
  std::vector<int> planes;
  // The guide is the weighted sum of the chroma planes, plus luma if `uses_luma` is true.
  bool uses_luma = true;
  std::array<float, 2> chroma_weights{};
  float tau_factor = 1;
  /// Bias added to distances (MatchParams::bias). Null if the guide is not noisy, or its noise is
  /// white.
  std::shared_ptr<const DistanceBias> bias;
  /// Maximum number of members of each group that the first phase stores for propagation
  /// (propagation.h). 0: the first phase stores no groups.
  int kept = 0;
  bool same_groups = false;  // second phase: filters the stored groups without a search
  GuideRange range{};        // range of values in the guide, see guide_range()

  bool has_chroma() const { return chroma_weights[0] != 0 || chroma_weights[1] != 0; }
  /// Returns whether the guide combines several planes. If not, the guide is the luma plane.
  bool is_composite() const { return has_chroma() || planes.front() != 0; }
};
/// Returns the sets of planes of a phase, in the order of filtering, without noise-free planes and
/// planes smaller than a patch. `noise` is the noise of the filtered planes (for RGB: of the
/// opponent space).
[[nodiscard]] std::vector<PlaneSet> plane_sets(Phase phase, bool over_time,
                                               const FrameFormat& format, const NoiseModel& noise);

/// Returns the noise level (standard deviation) of the guide of `set`. If this guide is a sum of
/// luma and chroma, the function ignores the noise of the luma term.
[[nodiscard]] float guide_sigma(const PlaneSet& set, const FrameFormat& format,
                                const NoiseModel& noise);

/// Returns the range of values in a guide. If noisy samples are not clipped, the function extends
/// the range at both ends by three standard deviations of the remaining noise: 3 * share *
/// guide_sigma().
[[nodiscard]] GuideRange guide_range(const PlaneSet& set, const FrameFormat& format,
                                     const NoiseModel& noise, float share);

/// Returns the distance bias of a guide (MatchParams::bias): 2 * sigma^2 * rho, where sigma is the
/// noise level of the guide and rho the autocorrelation of its noise. Null: the noise is white.
[[nodiscard]] std::shared_ptr<const DistanceBias> distance_bias(const PlaneSet& set,
                                                                const FrameFormat& format,
                                                                const NoiseModel& noise);

/// Factor of the match threshold in the second phase, for guides of several planes.
inline constexpr float colour_tau = 4.0f;

/// Weight of U and V in the guide of the second phase for RGB. The weight is below 1 / sqrt(2),
/// because luma has less noise than U and V.
inline constexpr float rgb_chroma_weight = 0.6f;

/// Downsamples a plane by box filtering: each sample of `coarse` is the mean of 2^shift_x x
/// 2^shift_y samples of `fine`, without samples outside `fine`.
void box_average(PlaneView<const float> fine, int shift_x, int shift_y, PlaneView<float> coarse);

/// Adds a weighted plane to a sum: sum += weight * plane.
void add_weighted(PlaneView<const float> plane, float weight, PlaneView<float> sum);

}  // namespace lull
