#pragma once
// Rician samples with Gaussian noise: what a first estimate of the signal makes of them.

#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// Replaces each sample by its expectation without the imaginary part of the noise
/// (rician_expectation() in noise/volume/rician.h). The new samples have nearly Gaussian noise of
/// the same level, and are linear in the signal, also where it is weak. The variance-stabilised
/// samples are not: their components are more, and their inverse amplifies noise near 0.
/// @param fit  decomposition of the series, with Rician noise
/// @param components  its filtered components
void replace_by_expectations(const Samples& samples, const Fit& fit, const Samples& components);

}  // namespace lull::series
