#pragma once
// Estimates the errors of the filter of the components and of a separate filter from results of
// both filters.

#include <span>

#include "series/filter/component_filter.h"
#include "series/fit.h"
#include "series/risk.h"
#include "series/samples/samples.h"

namespace lull::series {

/// Estimates, for each of `volumes`, the errors of a separate filter and of the filter of the
/// components with Stein's unbiased risk estimate. Source of the divergence, which the function
/// measures with one random probe: Ramani, Blu and Unser 2008, doi:10.1109/TIP.2008.2001404. The
/// function filters a part in the middle of the object, so time and memory have an upper limit.
/// @param volumes  volumes that the components combine
/// @return empty vectors if the part contains too few complete voxels, or if `filter` returned
///     false
[[nodiscard]] Risks risks_of_filters(const Samples& samples, const Fit& fit,
                                     std::span<const int> volumes, const VolumeFilter& filter);

}  // namespace lull::series
