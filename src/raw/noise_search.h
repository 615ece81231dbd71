#pragma once
// Estimates the noise of a sensor from one mosaic.

#include <cstdint>
#include <optional>

#include "core/image.h"
#include "raw/sensor.h"

namespace lull::raw {

/// Returns the noise of the samples, which is assumed to be the same for all colours. Returns
/// nullopt if the mosaic is too small, if too much of it is clipped, or if it has no noise.
///
/// Samples of one site of the pattern form a picture with white noise. In each block of 8x8 of such
/// samples, coefficients of the DCT at high frequencies contain mostly noise. Of the blocks with
/// similar means, those with the least energy at low frequencies have the least texture; low and
/// high frequencies of white noise are independent, so that this choice does not bias the energy at
/// high frequencies (Ponomarenko et al. 2007; Colom and Buades 2013, doi:10.5201/ipol.2013.45). A
/// line is fitted to these energies as a function of the mean of the blocks.
[[nodiscard]] std::optional<SensorNoise> find_noise(PlaneView<const std::uint16_t> mosaic,
                                                    const Sensor& sensor);

}  // namespace lull::raw
