#pragma once
// Linear demosaicing. Because the method is linear, the noise covariance of the results follows
// from the noise covariance of the mosaic.

#include <array>

#include "core/image.h"
#include "noise/noise_model.h"
#include "raw/sensor.h"

namespace lull::raw {

/// malvar: the filters of Malvar, He and Cutler 2004, "High-quality linear interpolation for
/// demosaicing of Bayer-patterned color images", ICASSP. bilinear: the mean of the nearest samples.
enum class LinearFilters { malvar, bilinear };

/// Computes R, G and B at each site of a mosaic. The function mirrors the borders at the outermost
/// samples, so the Bayer pattern continues beyond the borders.
void demosaic(PlaneView<const float> mosaic, const BayerPattern& pattern, LinearFilters filters,
              const std::array<PlaneView<float>, 3>& rgb);

/// Returns the noise of demosaiced samples in the opponent space, averaged over the four sites. The
/// function assumes independent noise in the mosaic, with the standard deviations `sigma` at red,
/// green and blue sites.
[[nodiscard]] NoiseModel demosaiced_noise(const BayerPattern& pattern, LinearFilters filters,
                                          const std::array<float, 3>& sigma);

}  // namespace lull::raw
