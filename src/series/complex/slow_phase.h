#pragma once
// The slowly varying phase of complex samples within a slice. Coils, shim and motion cause this
// phase. After the removal of the phase, the real parts contain the signal.

#include <complex>
#include <span>
#include <vector>

#include "series/samples/samples.h"

namespace lull::series {

// NORDIC: Moeller et al. 2021, doi:10.1016/j.neuroimage.2020.117539.

/// Estimates the slowly varying phase as the phase of the low-pass filtered slice. The filter is
/// NORDIC's: a Hann window to the power of 10 in frequency, which is 21 binomial taps along each
/// axis. Unlike NORDIC, lull sets the central tap to 0, so that the estimated phase of a sample
/// does not depend on the noise of this sample.
/// @param slice  row by row; NaN counts as 0
/// @return factors exp(-i * phase), which remove the phase
[[nodiscard]] std::vector<std::complex<float>> slow_phase_factors(
    std::span<const std::complex<float>> slice, int width, int height);

/// Converts a series of magnitudes and phases in place to real and imaginary parts without the
/// slowly varying phase of each slice.
/// @param samples  an even number of volumes: the magnitudes, and then the phases in radians. A
///     sample of 0 represents the magnitude 0. NaN in a magnitude or phase makes both parts NaN.
void make_complex(const Samples& samples);

}  // namespace lull::series
