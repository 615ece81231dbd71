#pragma once
// Converts Rician samples to samples with nearly Gaussian noise, by a first estimate of the signal.

#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// Replaces each sample by its expectation without the imaginary part of the noise
/// (rician_expectation() in noise/volume/rician.h). The noise becomes nearly Gaussian with the same
/// level, and the mean linear in the signal.
///
/// Variance stabilisation would need more components, because it is not linear, and its inverse
/// would amplify noise near 0.
/// @param fit  decomposition of the series, with Rician noise
/// @param components  the filtered components of `fit`
void replace_by_expectations(const Samples& samples, const Fit& fit, const Samples& components);

}  // namespace lull::series
