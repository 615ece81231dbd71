#pragma once
// Implements directional demosaicing, which interpolates along edges (Menon, Andriani and Calvagno
// 2007, "Demosaicing with directional filtering and a posteriori decision",
// doi:10.1109/TIP.2006.884928). The code includes the refining step of the paper.

// Directional demosaicing is not linear, so no formula determines the covariance of the noise. The
// function measured_noise() measures the covariance.

#include <array>

#include "core/image.h"
#include "noise/noise_model.h"
#include "raw/sensor.h"

namespace lull::raw {

/// Computes R, G and B at each site of a mosaic of at least 2x2 sites. Samples beyond the border
/// are mirrored at the border sample.
void demosaic_along_edges(PlaneView<const float> mosaic, const BayerPattern& pattern,
                          const std::array<PlaneView<float>, 3>& rgb);

/// Returns the noise of results of demosaic_along_edges() in the opponent colour space. The noise
/// of the mosaic must be independent, with the standard deviations `sigma` at red, green and blue
/// sites. The function demosaics pseudo-random noise and measures the result. All calls use the
/// same pseudo-random noise.
[[nodiscard]] NoiseModel measured_noise(const BayerPattern& pattern,
                                        const std::array<float, 3>& sigma);

}  // namespace lull::raw
