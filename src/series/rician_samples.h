#pragma once
// Converts Rician samples to samples with nearly Gaussian noise, by a first estimate of the signal.

#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// A Rician sample is the magnitude of a real signal plus complex noise. The function replaces each
/// sample by the expectation of the signal plus the real part of the noise (rician_expectation()).
/// After the replacement, the noise is nearly Gaussian with an unchanged level, and the mean is
/// linear in the signal.
///
/// Variance stabilisation is not linear. Stabilised samples would therefore need more components.
/// @param fit  decomposition of the series, with Rician noise
/// @param components  the filtered components of `fit`
void replace_by_expectations(const Samples& samples, const Fit& fit, const Samples& components);

}  // namespace lull::series
