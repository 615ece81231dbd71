#pragma once
// Estimates the noise of a sensor from one mosaic.

#include <cstdint>
#include <optional>

#include "core/image.h"
#include "raw/sensor.h"

namespace lull::raw {

/// Estimates the noise of a mosaic from 8x8 blocks with little low-frequency energy (Ponomarenko et
/// al. 2007; Colom and Buades 2013, doi:10.5201/ipol.2013.45). Returns std::nullopt if the mosaic
/// is too small, has no noise, or has too many clipped samples.
[[nodiscard]] std::optional<SensorNoise> find_noise(PlaneView<const std::uint16_t> mosaic,
                                                    const Sensor& sensor);

}  // namespace lull::raw
