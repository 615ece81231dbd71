#pragma once
// The phase that remains in complex samples after a first removal of the slowly varying phase.

#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// Removes the phase that remains in a series of real and imaginary parts, given the filtered
/// components of a first pass. The wide filter of slow_phase.h does not follow a phase that varies
/// within a few voxels. The filtered samples have so little noise that 3x3 voxels suffice: the
/// removed phase is the phase of their mean, with the weights 1, 2, 1 along both axes of the slice.
/// @param samples  the real parts of all volumes, and then the imaginary parts
/// @param fit  the decomposition of `samples`, whose noise is Gaussian
/// @param components  the filtered components of `fit`
/// @param removed  receives the removed phase in radians, for each voxel of half of the volumes;
///     its data may be null
void remove_remaining_phase(const Samples& samples, const Fit& fit, const Samples& components,
                            const Samples& removed);

}  // namespace lull::series
