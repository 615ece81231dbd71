#pragma once
// The phase that remains in complex samples after a first removal of the slowly varying phase.

#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// Removes the phase that remains in a series of real and imaginary parts after a first pass. The
/// phase filter of slow_phase.h is too wide for a phase that varies within a few voxels. The
/// filtered components contain so little noise that 3x3 voxels suffice. The function removes the
/// phase of their weighted mean, with the weights 1, 2, 1 along both axes.
/// @param samples  the real parts of all volumes, and then the imaginary parts
/// @param fit  the decomposition of `samples`, whose noise is Gaussian
/// @param components  the filtered components of `fit`
/// @param removed  receives the removed phase in radians, for each voxel of half of the volumes;
///     its data may be null
void remove_remaining_phase(const Samples& samples, const Fit& fit, const Samples& components,
                            const Samples& removed);

}  // namespace lull::series
