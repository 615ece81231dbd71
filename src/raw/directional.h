#pragma once
// Directional demosaicing: along edges instead of across them.
//
// Menon, Andriani and Calvagno 2007, "Demosaicing with directional filtering and a posteriori
// decision", doi:10.1109/TIP.2006.884928, with their refining step. The result is not linear in the
// samples, so that the covariance of its noise is measured.

#include <array>

#include "core/image.h"
#include "noise/noise_model.h"
#include "raw/sensor.h"

namespace lull::raw {

/// Computes R, G and B at each site of a mosaic of at least 2x2 sites. Samples beyond the border
/// are mirrored at it.
void demosaic_along_edges(PlaneView<const float> mosaic, const BayerPattern& pattern,
                          const std::array<PlaneView<float>, 3>& rgb);

/// Returns the noise of samples from demosaic_along_edges() in the opponent space, for independent
/// noise of the mosaic with these standard deviations of red, green and blue sites. It is measured
/// in a demosaiced picture of pseudo-random noise, always the same.
[[nodiscard]] NoiseModel measured_noise(const BayerPattern& pattern,
                                        const std::array<float, 3>& sigma);

}  // namespace lull::raw
