#pragma once
// Directional demosaicing: along edges instead of across them.
//
// Menon, Andriani and Calvagno 2007, "Demosaicing with directional filtering and a posteriori
// decision", doi:10.1109/TIP.2006.884928, including their refining step. The result is not a linear
// function of the samples, so there is no formula for the covariance of its noise. measured_noise()
// measures it.

#include <array>

#include "core/image.h"
#include "noise/noise_model.h"
#include "raw/sensor.h"

namespace lull::raw {

/// Computes R, G and B at each site of a mosaic of at least 2x2 sites. Samples beyond the border
/// are mirrored at the border sample.
void demosaic_along_edges(PlaneView<const float> mosaic, const BayerPattern& pattern,
                          const std::array<PlaneView<float>, 3>& rgb);

/// Returns the noise of results of demosaic_along_edges() in the opponent space. The noise of the
/// mosaic is independent; `sigma` contains its standard deviations at red, green and blue sites.
/// The function demosaics a picture of pseudo-random noise, which is the same in each call, and
/// measures the noise of the result.
[[nodiscard]] NoiseModel measured_noise(const BayerPattern& pattern,
                                        const std::array<float, 3>& sigma);

}  // namespace lull::raw
