#pragma once
// Noise levels of separately filtered volumes from a few slices of each volume.

#include <vector>

#include "core/frame.h"
#include "series/samples/samples.h"
#include "series/samples/series_noise.h"

namespace lull::series {

/// Stores slices from the middle of each volume, about 200 000 voxels of a volume and at most 80 MB
/// for all volumes.
class MiddleSlices {
 public:
  /// @param series  the size of the series
  explicit MiddleSlices(const Shape& series);

  /// Adds a slice of the series. Frame::pts must be the index of the slice in the series.
  void add(const Frame& slice);

  /// Returns the levels from cubes (cube_levels.h) if the volumes have different levels, and
  /// otherwise `noise`. The result is also `noise` if the volumes have too few voxels, or if there
  /// are too many volumes for the memory.
  SeriesNoise with_cube_levels(const SeriesNoise& noise);

 private:
  int all_slices_;
  int first_ = 0;  // first stored slice of each volume
  Shape shape_;    // of the stored slices; without slices if nothing is stored
  std::vector<float> samples_;
};

}  // namespace lull::series
