#pragma once
// Directional demosaicing: along edges instead of across them.
//
// Menon, Andriani and Calvagno 2007, "Demosaicing with directional filtering and a posteriori
// decision", doi:10.1109/TIP.2006.884928, including their refining step. The method is not linear,
// so there is no formula for the covariance of the noise; measured_noise() measures it.

#include <array>

#include "core/image.h"
#include "noise/noise_model.h"
#include "raw/sensor.h"

namespace lull::raw {

/// Computes R, G and B at each site of a mosaic of at least 2x2 sites. Samples beyond the border
/// are mirrored at the border sample.
void demosaic_along_edges(PlaneView<const float> mosaic, const BayerPattern& pattern,
                          const std::array<PlaneView<float>, 3>& rgb);

/// Returns the noise of results of demosaic_along_edges() in the opponent space, for independent
/// noise of the mosaic with the standard deviations `sigma` at red, green and blue sites. The
/// function measures the noise in a demosaiced picture of pseudo-random noise. The picture is the
/// same in each call.
[[nodiscard]] NoiseModel measured_noise(const BayerPattern& pattern,
                                        const std::array<float, 3>& sigma);

}  // namespace lull::raw
