#pragma once
// Clipped noise: where a picture is black or white, half of the noise is cut off, and the mean of
// the samples is too bright or too dark (Foi 2009, "Clipped noisy images",
// doi:10.1016/j.sigpro.2009.04.035).

#include <array>
#include <limits>
#include <memory>
#include <span>

#include "noise/estimate/estimate.h"

namespace lull {

/// Clip limits of the noise of a plane, on the 0..255 scale.
struct Clipping {
  /// Samples are clipped at these values. An infinite limit: no noise is clipped at that
  /// end of the scale.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  float level = 0;  // standard deviation of the noise before it is clipped, > 0 with a limit

  bool any() const;
};

/// The clipping of each plane of a frame.
using PlaneClipping = std::array<Clipping, 3>;

/// Returns whether clipping may be visible in frames with this noise. The result is true if the
/// noise level is at least 4 in grey, in luma, or in R, G or B. Chroma (Cb, Cr) is not clipped.
[[nodiscard]] bool may_show_clipping(const NoiseModel& noise, Layout layout);

/// Finds the clip limits of frames with noise of a given level. A limit is the minimum or maximum
/// sample of a plane in the first frames of `excerpts`. More than 3 % of the samples of the plane
/// must have the value of the limit and a neighbour with another value. Planes in which no clipping
/// may show (may_show_clipping()) have no limits. Float samples with values outside 0..white have
/// no limits, because they are not clipped.
///
/// If estimate_noise() is certain that the noise is weaker than the given noise by more than 30 %,
/// the estimated level is used, because a curve for more noise than the samples contain would turn
/// dark areas black. Otherwise the given level is used. If the estimate is below 4 levels,
/// the plane has no limits. A plane with a curve keeps the level of its curve.
/// @param noise  the noise with the given levels
/// @param excerpts  at least one frame; all frames have the same format and are in host memory
[[nodiscard]] PlaneClipping find_clipping(const NoiseModel& noise,
                                          std::span<const Excerpt> excerpts);

/// Returns `noise` with these clip limits. The function writes the limits of a plane to the noise
/// curve of the plane (NoiseCurve::low, NoiseCurve::high). If the plane has no noise curve, the
/// function makes a curve with the noise level of `clipping`. The new sigma of the plane is the
/// sigma of stabilised samples. Planes without limits, and planes whose curves already have these
/// limits, do not change.
[[nodiscard]] NoiseModel with_clipping(const NoiseModel& noise, const PlaneClipping& clipping);

/// Returns the clip limits that the noise curves of `noise` contain.
[[nodiscard]] PlaneClipping clipping_of(const NoiseModel& noise);

/// Adds noise curves to the planes of an estimate. The function finds the clip limits as
/// find_clipping() does, but also in float samples of any range. For clips, luma also gets the
/// noise curve `measured`, which is the noise level as a function of brightness. If `measured` is
/// null, no noise curve was measured.
void add_clip_limits(std::span<const Excerpt> excerpts,
                     const std::shared_ptr<const NoiseCurve>& measured, NoiseEstimate& estimate);

}  // namespace lull
