#pragma once
// Converts the mosaic of a sensor to stabilised samples and denoised samples back.

#include <cstdint>

#include "core/image.h"
#include "raw/sensor_vst.h"

namespace lull::raw {

/// Ratio of the green samples in rows with red to those in rows with blue. Crosstalk between sites
/// makes them differ, which would look like a pattern of the scene. 1 if it cannot be measured.
[[nodiscard]] float green_ratio(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor);

/// Stabilises a mosaic. Green samples in rows with blue are multiplied by `ratio`. Hot and dead
/// sites in flat areas are replaced: sites that differ from their 8 neighbours and from the 8
/// nearest sites of their colour, all in the same direction, by more than noise explains, while
/// these differ from each other no more than noise does. They get the median of the nearest sites
/// of their colour. (Small details of sharp pictures can look like hot sites, but not in flat
/// areas.)
/// @return the number of replaced sites
std::int64_t stabilise(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor,
                       const SensorVst& vst, float ratio, PlaneView<float> stabilised);

/// Levels of the samples of a result.
struct ResultLevels {
  std::array<float, 4> black{};  // by site
  float white = 65535;
};
/// Returns levels with the largest power of two as a factor for which white fits into 16 bits.
/// Denoised samples need more bits than noisy ones.
[[nodiscard]] ResultLevels result_levels(const Sensor& sensor);

}  // namespace lull::raw
