#pragma once
// The session that returns the filtered series.

#include <limits>
#include <memory>

#include "core/denoiser.h"
#include "series/fit.h"
#include "series/samples/samples.h"

namespace lull::series {

/// The filtered components of a series.
struct FilteredSeries {
  Fit fit;
  Samples components;  // volume k is component k
  int volumes = 0;     // number of volumes of the series
  float least =
      -std::numeric_limits<float>::infinity();  // lower limit of the results, on the 0..255 scale
  std::shared_ptr<void> memory;                 // keeps the memory of `components` alive
};

/// Opens a session that computes slices from the filtered components. Frame::pts must be the index
/// of the slice in the series. Voxels and volumes without noise, and missing samples (NaN), do not
/// change.
/// @param format  format of the slices: grey floats
/// @throws InvalidArgument  another format
[[nodiscard]] std::unique_ptr<Denoiser> open_series(std::shared_ptr<const FilteredSeries> series,
                                                    const FrameFormat& format);

}  // namespace lull::series
