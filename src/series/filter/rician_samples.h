#pragma once
// Converts Rician samples to samples with nearly Gaussian noise, by a first estimate of the signal.

#include "series/fit.h"
#include "series/samples/samples.h"

namespace lull::series {

// Variance stabilisation also gives nearly Gaussian noise. However, the mean of stabilised samples
// is not linear in the signal, so the series would need more components.

/// Replaces each Rician sample z = |v + n1 + i n2| by v + (E - v) / sqrt(I). The signal v is a
/// first estimate from `components`. E is the conditional expectation of v + n1 for the observed z
/// (rician_expectation()). I is the variance of E, which equals the Fisher information
/// (rician_information()). The new samples have nearly Gaussian noise of the same level for all
/// signals, and their mean is linear in the signal.
/// @param fit  decomposition of the series
/// @param components  the filtered components of `fit`
void replace_by_expectations(const Samples& samples, const Fit& fit, const Samples& components);

}  // namespace lull::series
