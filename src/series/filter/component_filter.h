#pragma once
// Filters the components of a series with a filter for volumes.

#include <functional>
#include <optional>

#include "series/components.h"
#include "series/fit.h"
#include "series/series_denoiser.h"

namespace lull::series {

/// Filters all volumes of `source` and writes the results to `sink`. The noise of the volumes is
/// white, with a standard deviation of `group.scale`. Returns false if the run was stopped.
using VolumeFilter =
    std::function<bool(ComponentSource& source, ComponentSink& sink, const ComponentGroup& group)>;

/// Returns memory for this number of volumes of the series. The memory must remain valid until
/// filter_series() returns.
using VolumeMemory = std::function<Samples(int volumes)>;

/// Filters the components of a decomposed series. Series with Rician noise are decomposed once
/// more, after their noise was made nearly Gaussian (rician_samples.h).
/// @param samples  the samples of the series; the filtered components replace the first volumes
/// @param options  the options of `fit`
/// @param memory   called for series with Rician noise only
/// @return the filtered components, in the memory of `samples`; nothing if `filter` returned false
/// @throws any exception of `filter` and `memory`
[[nodiscard]] std::optional<FilteredSeries> filter_series(const Samples& samples, Fit fit,
                                                          const FitOptions& options,
                                                          const VolumeMemory& memory,
                                                          const VolumeFilter& filter);

}  // namespace lull::series
