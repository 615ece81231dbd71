#pragma once
// Denoises a series of volumes in memory. choose.h lists the names of profiles and devices.

#include <optional>
#include <string>

#include "noise/volume/volume_noise.h"
#include "series/samples.h"

namespace lull {

struct SeriesSettings {
  /// Name of a profile of bm4d: fast, balanced or high.
  std::string profile = "balanced";
  std::string device = "auto";  // name of the device, as in SessionChoice
  /// Known noise, which is the same in all volumes. If the noise is not given, the function
  /// estimates it for each volume.
  std::optional<VolumeNoise> noise{};
  /// Kind of the noise, for the estimate. If the kind is not given, the estimate determines it from
  /// the background.
  std::optional<NoiseKind> kind{};
  float strength = 1;  // factor for the noise level of the filter; above 0
  float zero = 0;      // the sample that represents a magnitude of 0
};

/// Denoises a series by its principal components over the volumes (series/fit.h). The results
/// replace the samples. The function needs memory for at most two further copies of the samples.
/// @param samples  samples on the 0..255 scale; NaN means that a voxel has no sample
/// @return false if the samples were not changed, because the volumes have too little in common, or
///     because fewer than two of them have noise. A program can then denoise each volume
///     separately.
/// @throws InvalidArgument  a name is unknown
/// @throws DeviceUnavailable  the device does not exist
[[nodiscard]] bool denoise_series(const series::Samples& samples, const SeriesSettings& settings);

}  // namespace lull
