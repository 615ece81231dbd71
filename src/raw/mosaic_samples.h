#pragma once
// Converts the samples of a sensor to stabilised samples, and chooses the levels of denoised
// mosaics.

#include <cstdint>

#include "core/image.h"
#include "raw/sensor_vst.h"

namespace lull::raw {

/// Returns the ratio of the green samples in rows with red to the green samples in rows with blue,
/// or 1 if it cannot be measured. Crosstalk between sites causes a difference, which filters would
/// take for a pattern of the scene.
[[nodiscard]] float green_ratio(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor);

/// Stabilises a mosaic. Green samples in rows with blue are multiplied by `ratio`. Hot and dead
/// sites are replaced by the median of the 8 nearest sites of their colour. A site is hot or dead
/// if noise cannot explain how much brighter, or darker, it is than all of its 8 neighbours and all
/// of these 8 sites. In addition, the area must be flat: noise explains the differences among the
/// neighbours of each colour. In areas that are not flat, small details of sharp pictures can look
/// like hot sites.
/// @return the number of replaced sites
std::int64_t stabilise(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor,
                       const SensorVst& vst, float ratio, PlaneView<float> stabilised);

/// Black levels and white level of the samples of a result.
struct ResultLevels {
  std::array<float, 4> black{};  // by site
  float white = 65535;
};
/// Returns the levels of the sensor, multiplied by the largest power of two for which white fits
/// into 16 bits. Denoised samples need more bits than noisy samples.
[[nodiscard]] ResultLevels result_levels(const Sensor& sensor);

}  // namespace lull::raw
