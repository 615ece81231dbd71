#pragma once
// Directional demosaicing along edges, with the refining step (Menon, Andriani and Calvagno 2007,
// "Demosaicing with directional filtering and a posteriori decision", doi:10.1109/TIP.2006.884928).

// Directional demosaicing is not linear, so measured_noise() measures the covariance of the noise
// instead of computing it.

#include <array>

#include "core/image.h"
#include "noise/noise_model.h"
#include "raw/sensor.h"

namespace lull::raw {

/// Computes R, G and B at each site of a mosaic of at least 2x2 sites, with mirrored borders.
void demosaic_along_edges(PlaneView<const float> mosaic, const BayerPattern& pattern,
                          const std::array<PlaneView<float>, 3>& rgb);

/// Returns the noise of the results of demosaic_along_edges() in the opponent space. The function
/// demosaics pseudo-random noise with a fixed seed and the standard deviations `sigma` at red,
/// green and blue sites, and measures the noise of the result.
[[nodiscard]] NoiseModel measured_noise(const BayerPattern& pattern,
                                        const std::array<float, 3>& sigma);

}  // namespace lull::raw
