#pragma once
// Converts Rician samples to samples with nearly Gaussian noise, by a first estimate of the signal.

#include "series/fit.h"
#include "series/samples.h"

namespace lull::series {

/// A Rician sample z = |v + n1 + i n2| is the magnitude of a real signal v plus complex noise. The
/// function replaces each sample z by the expectation of v + n1 for this z (rician_expectation()),
/// with a first estimate of v from `components`. After the replacement, the noise is nearly
/// Gaussian with an unchanged level, and the mean is linear in the signal.
///
/// Variance stabilisation also gives nearly Gaussian noise, but the mean is then not linear in the
/// signal, so the series would need more components.
/// @param fit  decomposition of the series, with Rician noise
/// @param components  the filtered components of `fit`
void replace_by_expectations(const Samples& samples, const Fit& fit, const Samples& components);

}  // namespace lull::series
