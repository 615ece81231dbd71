#pragma once
// The noise levels of a series' volumes before its decomposition.

#include <array>
#include <optional>
#include <vector>

#include "core/frame.h"
#include "noise/volume/cube_statistics.h"
#include "noise/volume/estimate_volume.h"
#include "series/samples/series_noise.h"

namespace lull::series {

/// Returns whether the noise levels of volumes differ too much for a common level. The function
/// ignores the highest and the lowest tenth of the levels.
[[nodiscard]] bool levels_differ(std::vector<float> levels, NoiseKind kind);

/// Estimates the noise level of each volume separately.
class VolumeLevels {
 public:
  /// @param slices  number of slices of a volume
  /// @param zero    the sample on the 0..255 scale that represents a magnitude of 0
  VolumeLevels(const FrameFormat& format, int slices, float zero);

  /// Adds the next slice of the series. The caller must add the slices in order. A slice with
  /// Frame::slice == 0 begins a new volume.
  void add(const Frame& slice);
  /// Ends the last volume, after the last call of add().
  void finish();

  int volumes() const { return static_cast<int>(levels_.size()); }
  /// Returns the noise of the series. Volumes with nearly equal levels, or with too few usable
  /// voxels, get the level of `whole`, the estimate for all volumes together.
  SeriesNoise noise(const VolumeEstimate& whole) const;
  /// Sets the noise levels of constant volumes to 0.
  void clear_constant_volumes(SeriesNoise& noise) const;

 private:
  /// Noise level of a volume for each NoiseKind. A level is empty if the volume has too few usable
  /// voxels.
  using LevelsByKind = std::array<std::optional<float>, 2>;

  FrameFormat format_;
  int slices_;
  float zero_;
  std::optional<CubeCollector> current_;  // cubes of the volume whose slices are being added
  std::vector<LevelsByKind> levels_;      // levels of each volume
};

/// Returns the noise of a series whose volumes have equal noise. `volumes` is the number of
/// volumes.
/// @param level  the noise level to which the factors of the map are relative
[[nodiscard]] SeriesNoise equal_noise(const VolumeNoise& noise, float level, int volumes,
                                      float zero);

}  // namespace lull::series
