#pragma once
// Filters the components of a series with a filter for volumes.

#include <functional>
#include <optional>

#include "series/components.h"
#include "series/fit.h"
#include "series/series_denoiser.h"

namespace lull::series {

/// Filters all volumes of `source`, and writes the results to `sink`. The noise of the volumes is
/// white with a standard deviation of `group.scale`. Returns false if the user stopped the run.
using VolumeFilter =
    std::function<bool(ComponentSource& source, ComponentSink& sink, const ComponentGroup& group)>;

/// Returns memory for `volumes` volumes of the series. The memory must remain valid until
/// filter_series() returns.
using VolumeMemory = std::function<Samples(int volumes)>;

/// Corrects the samples of a series with the filtered components of a first pass.
/// @param fit  the decomposition of the first pass
using SampleCorrection =
    std::function<void(const Samples& samples, const Fit& fit, const Samples& components)>;

/// Filters the components of a decomposed series. If the noise is Rician or `correct` is given, the
/// function corrects the samples after a first pass, and then decomposes and filters the corrected
/// samples. The noise of corrected Rician samples is nearly Gaussian (rician_samples.h).
/// @param samples  the samples of the series; the filtered components replace the first volumes
/// @param options  the options of `fit`
/// @param memory   called only if the samples are corrected
/// @param correct  the correction of samples with Gaussian noise; may be empty
/// @return the filtered components, in the memory of `samples`; nothing if `filter` returned false
/// @throws any exception of `filter`, `memory` and `correct`
[[nodiscard]] std::optional<FilteredSeries> filter_series(const Samples& samples, Fit fit,
                                                          const FitOptions& options,
                                                          const VolumeMemory& memory,
                                                          const VolumeFilter& filter,
                                                          const SampleCorrection& correct);

}  // namespace lull::series
