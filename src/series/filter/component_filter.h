#pragma once
// Filters the components of a series with a filter for volumes.

#include <functional>
#include <optional>

#include "series/components.h"
#include "series/fit.h"
#include "series/series_denoiser.h"

namespace lull::series {

/// Filters all volumes of `source`, which contain white noise of the standard deviation
/// `group.scale`, and writes the results to `sink`. Returns false if the user stopped the run.
using VolumeFilter =
    std::function<bool(ComponentSource& source, ComponentSink& sink, const ComponentGroup& group)>;

/// Returns memory for the given number of volumes, valid until filter_series() returns.
using VolumeMemory = std::function<Samples(int volumes)>;

/// A function that corrects the samples of a series. `components` contains the filtered components
/// of the first pass.
/// @param fit  the decomposition of the first pass
using SampleCorrection =
    std::function<void(const Samples& samples, const Fit& fit, const Samples& components)>;

/// Filters the components of a decomposed series. For Rician noise, or if `correct` is not empty, a
/// first pass corrects the samples. A second pass decomposes and filters the corrected samples.
/// @param samples  the samples of the series; the results overwrite the first volumes
/// @param memory  memory for the first pass
/// @param correct  correction for series with Gaussian noise; empty: no correction
/// @return nullopt if `filter` returned false
[[nodiscard]] std::optional<FilteredSeries> filter_series(const Samples& samples, Fit fit,
                                                          const FitOptions& options,
                                                          const VolumeMemory& memory,
                                                          const VolumeFilter& filter,
                                                          const SampleCorrection& correct);

}  // namespace lull::series
