#pragma once
// Implements linear demosaicing. The covariance of the noise in the results is known.

#include <array>

#include "core/image.h"
#include "noise/noise_model.h"
#include "raw/sensor.h"

namespace lull::raw {

/// malvar: the filters of Malvar, He and Cutler 2004, "High-quality linear interpolation for
/// demosaicing of Bayer-patterned color images", ICASSP. bilinear: the mean of the nearest samples
/// of a colour. Both filters preserve the measured sample of each site.
enum class LinearFilters { malvar, bilinear };

/// Computes R, G and B at each site of a mosaic. Samples beyond the border are mirrored at the
/// border sample, which preserves the pattern of colours.
void demosaic(PlaneView<const float> mosaic, const BayerPattern& pattern, LinearFilters filters,
              const std::array<PlaneView<float>, 3>& rgb);

/// Returns the noise of demosaiced samples in the opponent colour space (core/colour.h). The noise
/// of the mosaic must be independent, with the standard deviations `sigma` at red, green and blue
/// sites. Noise levels and autocorrelations are means over the four sites of the pattern.
[[nodiscard]] NoiseModel demosaiced_noise(const BayerPattern& pattern, LinearFilters filters,
                                          const std::array<float, 3>& sigma);

}  // namespace lull::raw
