#pragma once
// The noise levels of the volumes of a series before the decomposition of the series.

#include <array>
#include <optional>
#include <vector>

#include "core/frame.h"
#include "noise/volume/cube_statistics.h"
#include "noise/volume/estimate_volume.h"
#include "series/series_noise.h"

namespace lull::series {

/// Returns whether the noise levels of volumes differ so much that a common noise level would be
/// wrong. The function ignores the highest and the lowest tenth of the levels.
[[nodiscard]] bool levels_differ(std::vector<float> levels, NoiseKind kind);

/// Estimates the noise level of each volume from the slices of the volume alone.
class VolumeLevels {
 public:
  /// @param slices  number of slices of a volume
  /// @param zero    the sample on the 0..255 scale that represents a magnitude of 0
  VolumeLevels(const FrameFormat& format, int slices, float zero);

  /// Adds a slice. The caller must add slices in order. A slice whose Frame::slice is 0 begins a
  /// volume.
  void add(const Frame& slice);
  /// Ends the last volume. The caller must not call add() afterwards.
  void finish();

  int volumes() const { return static_cast<int>(levels_.size()); }
  /// Returns the noise of the series. `whole` is the estimate for all volumes together. If the
  /// noise levels of all volumes are nearly equal, each volume gets the level of `whole`. If noise
  /// levels differ, each volume gets its own level. Volumes with too few usable voxels get the
  /// level of `whole`.
  SeriesNoise noise(const VolumeEstimate& whole) const;
  /// Sets the noise levels of constant volumes to 0.
  void clear_constant_volumes(SeriesNoise& noise) const;

 private:
  /// Noise level of a volume under the assumption of each NoiseKind. The level is empty if the
  /// volume has too few usable voxels.
  using LevelsByKind = std::array<std::optional<float>, 2>;

  FrameFormat format_;
  int slices_;
  float zero_;
  std::optional<CubeCollector> current_;  // cubes of the volume whose slices are being added
  std::vector<LevelsByKind> levels_;      // levels of each volume
};

/// Returns the noise of a series of `volumes` volumes with equal noise.
/// @param level  the noise level to which the factors of the map are relative
[[nodiscard]] SeriesNoise equal_noise(const VolumeNoise& noise, float level, int volumes,
                                      float zero);

}  // namespace lull::series
