#pragma once
// Converts Rician samples to samples with nearly Gaussian noise, by a first estimate of the signal.

#include "series/fit.h"
#include "series/samples/samples.h"

namespace lull::series {

// Variance stabilisation also gives nearly Gaussian noise. However, the mean of stabilised samples
// is not linear in the signal, so the series would need more components.

/// Replaces each Rician sample z = |v + n1 + i n2| by v + (E - v) / sqrt(I). E is the expectation
/// of v + n1 (rician_expectation()), and I is the Fisher information (rician_information()), the
/// variance of E. A first estimate of the signal v comes from `components`. The noise is then
/// nearly Gaussian with an unchanged level for all signals, and the mean of the samples is linear
/// in the signal.
/// @param fit  decomposition of the series
/// @param components  the filtered components of `fit`
void replace_by_expectations(const Samples& samples, const Fit& fit, const Samples& components);

}  // namespace lull::series
