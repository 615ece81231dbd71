#pragma once
// Converts the samples of a sensor to stabilised samples, and chooses the black and white levels of
// denoised mosaics.

#include <cstdint>

#include "core/image.h"
#include "raw/sensor_vst.h"

namespace lull::raw {

/// Returns the ratio of the green samples in red rows to the green samples in blue rows, or 1 if
/// the ratio cannot be measured. Crosstalk between sites changes the ratio. Filters would preserve
/// the difference as if it were a pattern of the scene.
[[nodiscard]] float green_ratio(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor);

/// Stabilises a mosaic. The function multiplies green samples in blue rows by `ratio`. In flat
/// areas, the function replaces hot (too bright) and dead (too dark) sites by the median of the 8
/// nearest sites of their colour.
/// @return the number of replaced sites
std::int64_t stabilise(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor,
                       const SensorVst& vst, float ratio, PlaneView<float> stabilised);

/// Black levels and white level of the samples of a result.
struct ResultLevels {
  std::array<float, 4> black{};  // by site
  float white = 65535;
};
/// Returns the black and white levels of the sensor, multiplied by a power of two. The factor is
/// the largest power of two for which white fits into 16 bits. Denoised samples need more bits than
/// noisy samples.
[[nodiscard]] ResultLevels result_levels(const Sensor& sensor);

}  // namespace lull::raw
