#pragma once
// Converts Rician samples to samples with nearly Gaussian noise. The conversion needs a first
// estimate of the signal.

#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// Replaces each sample by an estimate of its value without the imaginary part of the noise
/// (rician_expectation() in noise/volume/rician.h). The noise of the new samples is nearly Gaussian
/// and has the same level. The mean of the new samples is linear in the signal.
///
/// Variance-stabilised samples would not be linear in the signal, and would need more components.
/// The inverse of the variance stabilisation would also amplify noise near 0.
/// @param fit  decomposition of the series, with Rician noise
/// @param components  the filtered components of `fit`
void replace_by_expectations(const Samples& samples, const Fit& fit, const Samples& components);

}  // namespace lull::series
