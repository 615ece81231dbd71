#pragma once
// Converts the samples of a sensor to stabilised samples, and chooses the black and white levels of
// denoised mosaics.

#include <cstdint>

#include "core/image.h"
#include "raw/sensor_vst.h"

namespace lull::raw {

/// Returns the ratio of the green samples in red rows to those in blue rows; 1 if it cannot be
/// measured. Crosstalk between sites changes the ratio, and filters would preserve the difference
/// as if it were a pattern of the scene.
[[nodiscard]] float green_ratio(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor);

/// Stabilises a mosaic. Green samples in rows with blue are multiplied by `ratio`.
///
/// The function replaces hot (too bright) and dead (too dark) sites by the median of the 8 nearest
/// sites of their colour. Such a site differs from each of these 8 sites, and from each of its 8
/// adjacent sites, by more than noise explains. The area must be flat, because small details can
/// look like hot sites: noise explains the differences among the 4 sites beside the site, among the
/// 4 sites diagonal to it, and among the 8 nearest sites of its colour.
/// @return the number of replaced sites
std::int64_t stabilise(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor,
                       const SensorVst& vst, float ratio, PlaneView<float> stabilised);

/// Black levels and white level of the samples of a result.
struct ResultLevels {
  std::array<float, 4> black{};  // by site
  float white = 65535;
};
/// Returns the black and white levels of the sensor, multiplied by the largest power of two for
/// which white fits into 16 bits. Denoised samples need more bits than noisy ones.
[[nodiscard]] ResultLevels result_levels(const Sensor& sensor);

}  // namespace lull::raw
