#pragma once
// Charts of the noise of an input.

#include "noise/estimate/estimate.h"
#include "tools/html/chart.h"

namespace lull::tools {

/// Returns the noise level at a spatial frequency of 0 to 1/2 cycles per sample. The level is the
/// square root of the mean of two values of the power spectrum, one along each axis. For white
/// noise, the result is the noise level of the plane at all frequencies.
[[nodiscard]] double spectrum_at(const PlaneNoise& plane, double frequency);

struct NoiseCharts {
  Chart level;     // noise level by brightness, for each plane
  Chart spectrum;  // level by spatial frequency, for each plane that the filter processes
};

/// Returns the charts of an estimate.
/// @param of_frames  layout of the frames from which lull estimated the noise
[[nodiscard]] NoiseCharts noise_charts(const NoiseEstimate& estimate, Layout of_frames);

}  // namespace lull::tools
