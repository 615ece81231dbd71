#pragma once
// Estimates white noise whose variance rises linearly with the brightness, in single pictures.

#include <memory>
#include <span>

#include "noise/noise_model.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

/// Noise of a plane as a function of its brightness. `curve` is null if the noise of the plane does
/// not depend clearly on the brightness.
struct BrightnessCurve {
  std::shared_ptr<const NoiseCurve> curve;
  /// Share of the noise in the energy of flat blocks at middle frequencies, 0..1.
  float explained = 1;
};

/// Fits a line to the variances of flat blocks as a function of their means
/// (noise/volume/estimate_photons.h).
/// @param values  DCT coefficients of the blocks of one plane (coefficients())
[[nodiscard]] BrightnessCurve brightness_curve(std::span<const float> values,
                                               const PictureBlocks& blocks);

}  // namespace lull
