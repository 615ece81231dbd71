#pragma once
// Converts Rician samples to samples with nearly Gaussian noise, given a first estimate of the
// signal.

#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// Replaces each sample by an estimate of its value without the imaginary part of the noise
/// (rician_expectation() in noise/volume/rician.h). The new samples have nearly Gaussian noise of
/// the same level, and their mean is linear in the signal. Variance-stabilised samples are not
/// linear in the signal: they need more components, and the inverse of the stabilisation amplifies
/// noise near 0.
/// @param fit  decomposition of the series, with Rician noise
/// @param components  the filtered components of `fit`
void replace_by_expectations(const Samples& samples, const Fit& fit, const Samples& components);

}  // namespace lull::series
