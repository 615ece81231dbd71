#pragma once
// The phase of complex samples that varies slowly within a slice. Coils, shim and motion cause the
// slowly varying phase. After its removal, the real parts contain the signal.

#include <complex>
#include <span>
#include <vector>

#include "series/samples.h"

namespace lull::series {

/// Estimates the slowly varying phase of a slice as the phase of the low-pass filtered slice, as
/// NORDIC does (Moeller et al. 2021, doi:10.1016/j.neuroimage.2020.117539). The filter is binomial
/// with 21 taps. Its frequency response is the window of NORDIC, a Hann window to the power of 10.
///
/// Unlike NORDIC, the filter excludes the sample at its centre. Therefore the phase does not depend
/// on the noise of the sample, and the mean of the noise stays 0.
/// @param slice  samples, row by row; NaN counts as 0
/// @return for each sample a factor of magnitude 1, exp(-i phase), that removes the phase
[[nodiscard]] std::vector<std::complex<float>> slow_phase_factors(
    std::span<const std::complex<float>> slice, int width, int height);

/// Converts a series of magnitudes and phases to real and imaginary parts without the slowly
/// varying phase of each slice.
/// @param samples  an even number of volumes: the magnitudes, and then the phases in radians. A
///     sample of 0 represents the magnitude 0. The function replaces the samples by the real parts
///     and the imaginary parts. If a magnitude or a phase is NaN, both parts become NaN.
void make_complex(const Samples& samples);

}  // namespace lull::series
