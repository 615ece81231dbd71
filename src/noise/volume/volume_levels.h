#pragma once
// Scales the volumes of a series from different noise levels to one level.

#include <memory>
#include <vector>

#include "core/denoiser.h"

namespace lull {

struct VolumeLevels {
  std::vector<float> levels;  // noise level of each volume on the 0..255 scale; 0: no noise
  int slices = 1;             // number of slices of each volume
  // The sample value that scaling leaves unchanged. For Rician noise, this value represents the
  // magnitude 0.
  float zero = 0;

  /// Returns the common noise level: the lowest noise level of the volumes with noise. Scaling to
  /// this level moves samples only towards `zero`, so scaled samples stay in the range of samples.
  /// 0: no volume has noise.
  float common_level() const;
};

/// Makes a session for the slices of a series; Frame::pts is the index of a slice in the series.
/// `filter` must accept stabilised_format(format) (vst_volume.h) and remove noise of the level
/// common_level(). Volumes without noise do not change.
/// @throws InvalidArgument  frames with several planes
[[nodiscard]] std::unique_ptr<Denoiser> with_volume_levels(const VolumeLevels& levels,
                                                           const FrameFormat& format,
                                                           std::unique_ptr<Denoiser> filter);

}  // namespace lull
