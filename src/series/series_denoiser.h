#pragma once
// The session that returns the filtered series.

#include <limits>
#include <memory>

#include "core/denoiser.h"
#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// The filtered components of a series.
struct FilteredSeries {
  Fit fit;
  Samples components;  // volume k is component k
  int volumes = 0;     // of the series
  float least =
      -std::numeric_limits<float>::infinity();  // results are not below, on the 0..255 scale
  std::shared_ptr<void> memory;                 // keeps the memory of `components` alive
};

/// Opens a session whose result for a slice comes from the components; only the position of a slice
/// matters: Frame::pts is its number in the series, volume after volume. Voxels and volumes that
/// show no noise are preserved unchanged, and so are samples that the series does not have (NaN).
/// @param format  format of the slices: grey floats
/// @throws InvalidArgument  another format
[[nodiscard]] std::unique_ptr<Denoiser> open_series(std::shared_ptr<const FilteredSeries> series,
                                                    const FrameFormat& format);

}  // namespace lull::series
