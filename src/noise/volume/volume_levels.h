#pragma once
// Scales the volumes of a series to one noise level for a filter. The volumes may have different
// noise levels.

#include <memory>
#include <vector>

#include "core/denoiser.h"

namespace lull {

struct VolumeLevels {
  std::vector<float> levels;  // noise level of each volume on the 0..255 scale; 0: no noise
  int slices = 1;             // number of slices of each volume
  // The sample value that the scaling does not change. For Rician noise, this value represents the
  // magnitude 0.
  float zero = 0;

  /// Returns the noise level to which all volumes are scaled. It is the lowest level of all
  /// volumes, so that no sample leaves the range of samples. 0: no volume has noise.
  float common_level() const;
};

/// Makes a session for the slices of a series. Frame::pts is the index of a slice in the series.
/// `filter` must be a session for frames of stabilised_format(format) (vst_volume.h) with the noise
/// level common_level(). The session preserves volumes without noise unchanged.
/// @throws InvalidArgument  frames with several planes
[[nodiscard]] std::unique_ptr<Denoiser> with_volume_levels(const VolumeLevels& levels,
                                                           const FrameFormat& format,
                                                           std::unique_ptr<Denoiser> filter);

}  // namespace lull
