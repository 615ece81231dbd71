#pragma once
// Stabilisation of sensor samples, and the black and white levels of denoised mosaics.

#include <cstdint>

#include "core/image.h"
#include "raw/sensor_vst.h"

namespace lull::raw {

/// Returns the ratio of green samples in red rows to green samples in blue rows, or 1 if the mosaic
/// does not permit a measurement. Crosstalk in the sensor changes the ratio.
[[nodiscard]] float green_ratio(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor);

/// Stabilises a mosaic, after a multiplication of the green samples in blue rows by `ratio`. In
/// flat areas, the function replaces hot and dead sites by the median of the 8 nearest sites of
/// their colour.
/// @return the number of replaced sites
std::int64_t stabilise(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor,
                       const SensorVst& vst, float ratio, PlaneView<float> stabilised);

/// Black levels and white level of a result.
struct ResultLevels {
  std::array<float, 4> black{};  // by site
  float white = 65535;
};
/// Returns the sensor's levels, multiplied by the largest power of two for which white fits into 16
/// bits, because denoised samples need more bits.
[[nodiscard]] ResultLevels result_levels(const Sensor& sensor);

}  // namespace lull::raw
