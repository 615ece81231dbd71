#pragma once
// Clipping limits of noisy samples. At the black or white level, clipping removes half of the noise
// and shifts the mean of the samples. Source: Foi 2009, "Clipped noisy images",
// doi:10.1016/j.sigpro.2009.04.035.

#include <array>
#include <limits>
#include <memory>
#include <span>

#include "noise/estimate/estimate.h"

namespace lull {

/// Clipping limits and noise level of a plane, on the 0..255 scale.
struct Clipping {
  /// Clipping limits of the samples. An infinite limit clips nothing.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  float level = 0;  // standard deviation of the noise before it is clipped, > 0 with a limit

  bool any() const;
};

/// The clipping limits of each plane of a frame.
using PlaneClipping = std::array<Clipping, 3>;

/// Returns whether clipping may be visible in frames with this noise: the noise level is at least 4
/// in grey, in luma, or in R, G or B. Chroma (Cb, Cr) is not clipped.
[[nodiscard]] bool may_show_clipping(const NoiseModel& noise, Layout layout);

/// Finds the clipping limits of frames with a given noise level. If estimate_noise() is certain
/// that the noise is more than 30 % weaker, the plane gets the estimated level. Planes with a level
/// below 4 have no limits. Planes with a noise curve keep their level.

/// A clipping limit is the minimum or maximum of a plane in the first given frames. More than 3 %
/// of the samples must have this value and a neighbour with another value. Float samples outside
/// 0..white, and planes without visible clipping (may_show_clipping()), have no limits.
/// @param excerpts  at least one frame, in one format and in host memory
[[nodiscard]] PlaneClipping find_clipping(const NoiseModel& noise,
                                          std::span<const Excerpt> excerpts);

/// Returns `noise` with the clipping limits of `clipping`, in NoiseCurve::low and NoiseCurve::high.
/// A plane without a noise curve gets a curve with the noise level of `clipping`, and the sigma of
/// the plane becomes the level of the stabilised samples. Planes without finite limits in
/// `clipping` do not change.
[[nodiscard]] NoiseModel with_clipping(const NoiseModel& noise, const PlaneClipping& clipping);

/// Returns the clipping limits in the noise curves of `noise`.
[[nodiscard]] PlaneClipping clipping_of(const NoiseModel& noise);

/// Adds noise curves with clipping limits to an estimate. The function finds the limits as
/// find_clipping() does, but float samples may have any range. `measured` is the measured noise
/// curve of luma in a clip, or null. The new curves contain the noise levels of `measured`, or
/// without `measured` those of the previous curve of the plane.
void add_clip_limits(std::span<const Excerpt> excerpts,
                     const std::shared_ptr<const NoiseCurve>& measured, NoiseEstimate& estimate);

}  // namespace lull
