#pragma once
// The phase that remains after the removal of the slowly varying phase.

#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// Removes the remaining phase of a series that consists of real and imaginary parts. The function
/// computes the phase of the filtered components, and smooths this phase with the weights 1, 2, 1
/// along both axes.
/// @param samples  the real parts of all volumes, and then the imaginary parts
/// @param fit  the decomposition of `samples`, whose noise is Gaussian
/// @param components  the filtered components of `fit`
/// @param removed  receives the removed phase in radians, for each voxel of half of the volumes;
///     its data may be null
void remove_remaining_phase(const Samples& samples, const Fit& fit, const Samples& components,
                            const Samples& removed);

}  // namespace lull::series
