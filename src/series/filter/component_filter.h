#pragma once
// Filters the components of a series with a filter for volumes.

#include <functional>
#include <optional>

#include "series/components.h"
#include "series/fit.h"
#include "series/series_denoiser.h"

namespace lull::series {

/// Filters all volumes of `source` into `sink`. The noise is white, with the standard deviation
/// `group.scale`. Returns false if the user stopped the run.
using VolumeFilter =
    std::function<bool(ComponentSource& source, ComponentSink& sink, const ComponentGroup& group)>;

/// Returns memory for the given number of volumes, valid until filter_series() returns.
using VolumeMemory = std::function<Samples(int volumes)>;

/// A function that corrects the samples of a series. `components` contains the filtered components
/// of the first pass.
/// @param fit  the decomposition of the first pass
using SampleCorrection =
    std::function<void(const Samples& samples, const Fit& fit, const Samples& components)>;

/// Filters the components of a decomposed series. For Rician noise, or if `correct` is given, a
/// first pass corrects the samples, and a second pass decomposes and filters them.
/// @param samples  the samples of the series; the function stores the filtered components in the
///     memory of the first volumes
/// @param options  the options of `fit`
/// @param memory   provides memory; filter_series() calls `memory` only if a first pass corrects
///     the samples
/// @param correct  the correction of samples with Gaussian noise; may be empty
/// @return the filtered components, in the memory of `samples`; std::nullopt if `filter` returned
///     false
/// @throws any exception of `filter`, `memory` and `correct`
[[nodiscard]] std::optional<FilteredSeries> filter_series(const Samples& samples, Fit fit,
                                                          const FitOptions& options,
                                                          const VolumeMemory& memory,
                                                          const VolumeFilter& filter,
                                                          const SampleCorrection& correct);

}  // namespace lull::series
