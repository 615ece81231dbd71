#pragma once
// The phase that remains after the removal of the slowly varying phase.

#include "series/fit.h"
#include "series/samples/samples.h"

namespace lull::series {

/// Removes the remaining phase of a series of real and imaginary parts. Smooths the phase of the
/// filtered components with the weights 1, 2, 1 along both axes.
/// @param samples  all real, and then all imaginary parts
/// @param components  the filtered components of `fit` (Gaussian noise)
/// @param removed  receives the phase in radians, half as many volumes as `samples`; may have null
///     data
void remove_remaining_phase(const Samples& samples, const Fit& fit, const Samples& components,
                            const Samples& removed);

}  // namespace lull::series
