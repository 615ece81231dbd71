#pragma once
// Series whose volumes have noise levels of their own, for filters of one level.

#include <memory>
#include <vector>

#include "core/denoiser.h"

namespace lull {

struct VolumeLevels {
  std::vector<float> levels;  // noise level of each volume on the 0..255 scale; 0: no noise
  int slices = 1;             // of each volume
  float zero = 0;             // sample that keeps its value: the magnitude 0 of Rician noise

  /// Returns the level to which all volumes are scaled: the lowest one, so that no sample leaves
  /// the range of samples. 0: no volume has noise.
  float common_level() const;
};

/// Makes a session for slices of the series. Frame::pts is the number of a slice in the series.
/// `filter` is a session for stabilised_format(format) (vst_volume.h) and noise of common_level().
/// A volume without noise is preserved unchanged.
/// @throws InvalidArgument  frames with several planes
[[nodiscard]] std::unique_ptr<Denoiser> with_volume_levels(const VolumeLevels& levels,
                                                           const FrameFormat& format,
                                                           std::unique_ptr<Denoiser> filter);

}  // namespace lull
