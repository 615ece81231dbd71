#pragma once
// The phase of complex samples that varies slowly within a slice. Coils, shim and motion cause this
// phase. After it is removed, the signal lies in the real parts of the samples.

#include <complex>
#include <span>
#include <vector>

#include "series/samples.h"

namespace lull::series {

/// Estimates the slowly varying phase of a slice as NORDIC does (Moeller et al. 2021, "NOise
/// Reduction with DIstribution Corrected (NORDIC) PCA in dMRI with complex-valued parameter-free
/// locally low-rank processing", doi:10.1016/j.neuroimage.2020.117539): it is the phase of the
/// low-pass filtered slice. The low-pass filter is a binomial filter of 21 taps. Its frequency
/// response is the window that NORDIC uses, a Hann window to the power of 10. Unlike NORDIC, the
/// function leaves out the sample itself. The phase at a voxel is therefore independent of the
/// noise of this voxel, so that the mean of the noise stays 0.
/// @param slice  samples, row by row; NaN counts as 0
/// @return for each sample a factor of magnitude 1, exp(-i phase), that removes the phase
[[nodiscard]] std::vector<std::complex<float>> slow_phase_factors(
    std::span<const std::complex<float>> slice, int width, int height);

/// Converts a series of magnitudes and phases into a series of real and imaginary parts, from which
/// the slowly varying phase of each slice is removed.
/// @param samples  an even number of volumes: the magnitudes, relative to a magnitude of 0, and
///     then the phases in radians. They are replaced by the real parts and by the imaginary
///     parts. If a magnitude or a phase is NaN, both parts become NaN.
void make_complex(const Samples& samples);

}  // namespace lull::series
