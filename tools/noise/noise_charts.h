#pragma once
// The noise of an input as curves.

#include "noise/estimate/estimate.h"
#include "tools/html/chart.h"

namespace lull::tools {

/// The power spectrum at `frequency` (cycles per sample, 0 .. 1/2), the mean of those along both
/// axes, in levels for each root of a sample: white noise has its level everywhere.
[[nodiscard]] double spectrum_at(const PlaneNoise& plane, double frequency);

struct NoiseCharts {
  Chart level;     // over brightness, for each plane
  Chart spectrum;  // over spatial frequency, of planes as they are filtered
};

/// `of_frames`: the layout of the frames that it was found in.
[[nodiscard]] NoiseCharts noise_charts(const NoiseEstimate& estimate, Layout of_frames);

}  // namespace lull::tools
