#pragma once
// Estimates the noise of a sensor from one mosaic.

#include <cstdint>
#include <optional>

#include "core/image.h"
#include "raw/sensor.h"

namespace lull::raw {

/// Returns the noise of the samples. The function assumes that all colours have the same noise.
/// Returns nullopt if the mosaic is too small or has no noise, or if too many samples are clipped.
///
/// The samples of one site of the pattern form a picture with white noise. The function divides
/// this picture into blocks of 8x8 samples. Among blocks with similar means, those with the least
/// energy at low frequencies of the DCT have the least texture. The energy of these blocks at high
/// frequencies is mostly noise, and independent of the choice of the blocks (Ponomarenko et al.
/// 2007; Colom and Buades 2013, doi:10.5201/ipol.2013.45). A line is fitted to this energy as a
/// function of the mean.
[[nodiscard]] std::optional<SensorNoise> find_noise(PlaneView<const std::uint16_t> mosaic,
                                                    const Sensor& sensor);

}  // namespace lull::raw
