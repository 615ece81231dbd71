#pragma once
// Defines the guides in which the planes of a frame are matched. All backends use the same guides.
// docs/measurements/colour.md contains the measurements on which the guides are based.

// Guides in the first phase, without temporal filtering: luma is matched in luma. The two chroma
// planes C1 and C2 are matched together in (C1 - C2) / sqrt(2). This difference has the noise level
// of each chroma plane, and shows the edges of both planes, because their edges usually have
// opposite signs. Groups that are found in luma give worse results for chroma.

// Guides in the second phase, without temporal filtering: chroma is matched in L + (C1 - C2) /
// sqrt(2), computed from the basic estimates, each mixed with a share of the noisy plane. L is
// luma, downsampled to the size of chroma. If luma and chroma have the same size, luma and chroma
// have the same groups. For RGB, the weight of C1 - C2 is `rgb_chroma_weight`.

// A distance in the second phase is the sum of the distances in up to three planes. The match
// threshold is therefore `colour_tau` times the threshold for grey pictures.

// A chroma plane that is not filtered is not part of a guide. The other chroma plane then replaces
// the difference C1 - C2. If neither chroma plane is filtered, luma is filtered as a grey picture.

// With temporal filtering, all planes are matched in luma, downsampled to their size, because luma
// identifies patches of the same object in other frames best. If luma is not filtered, sessions
// with temporal filtering use the same guides as sessions without temporal filtering.

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
/// Returns whether the session filters any plane. A session filters a plane if the plane has noise
/// and is at least as large as a patch.
[[nodiscard]] bool filters_any(const NoiseModel& noise, const FrameFormat& format);

/// Planes of equal size that have the same groups in one phase.
struct PlaneSet {
  std::vector<int> planes;
  // The guide is the sum of the chroma planes, multiplied by `chroma_weights`. If `uses_luma` is
  // true, luma is added to the sum.
  bool uses_luma = true;
  std::array<float, 2> chroma_weights{};
  float tau_factor = 1;
  /// Bias that is added to distances (MatchParams::bias). Null if the guide is not a noisy picture,
  /// or if its noise is white.
  std::shared_ptr<const DistanceBias> bias;
  /// Maximum number of members of each group that the first phase stores for propagation
  /// (propagation.h). 0: no groups are stored. The value is the same in both phases.
  int kept = 0;
  bool same_groups = false;  // second phase: filters the stored groups without a search
  GuideRange range{};        // range of values in the guide, see guide_range()

  bool has_chroma() const { return chroma_weights[0] != 0 || chroma_weights[1] != 0; }
  /// Returns whether the session must compute the guide as a separate picture. If not, the guide is
  /// the luma plane.
  bool is_composite() const { return has_chroma() || planes.front() != 0; }
};
/// Returns the sets of planes of a phase, in the order in which the session filters them. `noise`
/// is the noise of the filtered planes (for RGB: of Y, U and V of the opponent space). No set
/// contains a plane without noise, or a plane that is smaller than a patch.
[[nodiscard]] std::vector<PlaneSet> plane_sets(Phase phase, bool over_time,
                                               const FrameFormat& format, const NoiseModel& noise);

/// Returns the standard deviation of the noise in the guide of a set of planes. `noise` is the
/// noise of the planes. If the guide is a sum of luma and chroma, the function ignores the noise of
/// luma.
[[nodiscard]] float guide_sigma(const PlaneSet& set, const FrameFormat& format,
                                const NoiseModel& noise);

/// Returns the range of values in the guide of a set of planes. The range is the range of
/// noise-free pictures. If samples are not clipped, the function extends the range at both ends by
/// three standard deviations of the guide's noise. `share` is the share of the input noise that
/// remains in the guide.
[[nodiscard]] GuideRange guide_range(const PlaneSet& set, const FrameFormat& format,
                                     const NoiseModel& noise, float share);

/// Returns MatchParams::bias for the guide of a set of planes: 2 sigma^2 rho, where sigma and rho
/// are the level and the autocorrelation of the noise in the guide. Returns null if the noise is
/// white.
[[nodiscard]] std::shared_ptr<const DistanceBias> distance_bias(const PlaneSet& set,
                                                                const FrameFormat& format,
                                                                const NoiseModel& noise);

/// Factor of the match threshold in the second phase, for a guide that is computed from several
/// planes.
inline constexpr float colour_tau = 4.0f;

/// Weight of U and V in the guide of the second phase for RGB frames. The weight is below 1 /
/// sqrt(2), because luma has less noise.
inline constexpr float rgb_chroma_weight = 0.6f;

/// Downsamples a plane: each sample of `coarse` is the mean of the 2^shift_x x 2^shift_y samples of
/// `fine` at its place. Samples beyond the border of `fine` do not count. The size of `coarse` is
/// the size of `fine` divided by these powers of two, rounded up.
void box_average(PlaneView<const float> fine, int shift_x, int shift_y, PlaneView<float> coarse);

/// Adds a weighted plane to a sum of planes: sum += weight * plane, sample by sample.
void add_weighted(PlaneView<const float> plane, float weight, PlaneView<float> sum);

}  // namespace lull
