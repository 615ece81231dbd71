#pragma once
// Separates the eigenvalues of a covariance matrix into signal and noise.

#include <optional>
#include <span>

namespace lull::series {

struct Spectrum {
  int components = 0;   // number of leading components whose eigenvalues exceed the edge
  double variance = 0;  // noise variance, estimated from the other eigenvalues
  double edge = 0;      // upper edge of the eigenvalues of noise with this variance
};

// All eigenvalues of white noise of variance s^2 in V volumes over N voxels are below the edge s^2
// * (1 + sqrt(V / N))^2. Source: Marchenko and Pastur 1967; Veraart et al. 2016,
// doi:10.1016/j.neuroimage.2016.08.016.

// If the noise level varies, the eigenvalues of the noise spread more widely on both sides of the
// variance. The function assumes, within limits, a symmetric spread of the square roots of the
// eigenvalues. The square roots of the edge and of the smallest eigenvalue are then equally far
// from the standard deviation.

/// Separates signal from noise.
/// @param values  eigenvalues in descending order
/// @param count  number of voxels
/// @param variance  the known noise variance; empty: the mean of the eigenvalues after the leading
///     components, corrected for the noise in these components
[[nodiscard]] Spectrum analyse_spectrum(std::span<const double> values, double count,
                                        std::optional<double> variance = {});

}  // namespace lull::series
