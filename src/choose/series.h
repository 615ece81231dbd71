#pragma once
// Denoises a series of volumes in memory.

#include <optional>
#include <string>

#include "noise/volume/volume_noise.h"
#include "series/samples/samples.h"

namespace lull {

struct SeriesSettings {
  /// Profile of bm4d: fast, balanced or high.
  std::string profile = "balanced";
  std::string device = "auto";  // name of the device, as in SessionChoice
  /// Noise level of all volumes; empty: estimated for each volume.
  std::optional<VolumeNoise> noise{};
  /// Kind of the noise; empty: determined from the background.
  std::optional<NoiseKind> kind{};
  float strength = 1;  // factor for the noise level of the filter; above 0
  float zero = 0;      // the sample that represents a magnitude of 0
};

/// Denoises a series in place by principal components over the volumes (series/fit.h).
/// @param samples  samples on the 0..255 scale; NaN marks a voxel without a sample
/// @return false if the volumes share too little signal or have no noise; the samples are then
///     unchanged
/// @throws InvalidArgument  a name is unknown
/// @throws DeviceUnavailable
[[nodiscard]] bool denoise_series(const series::Samples& samples, const SeriesSettings& settings);

}  // namespace lull
