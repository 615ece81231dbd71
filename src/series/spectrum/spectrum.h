#pragma once
// Separates the eigenvalues of a covariance matrix into eigenvalues of signal components and
// eigenvalues of noise.

#include <optional>
#include <span>

namespace lull::series {

struct Spectrum {
  int components = 0;   // number of leading components whose eigenvalues exceed the edge
  double variance = 0;  // noise variance, estimated from the other eigenvalues
  double edge = 0;      // upper edge of the eigenvalues of noise with this variance
};

/// Separates signal from noise. For white noise of variance s^2 in V volumes over N voxels, all
/// eigenvalues are below the edge s^2 (1 + sqrt(V / N))^2 (Marchenko and Pastur 1967; for diffusion
/// MRI: Veraart et al. 2016, doi:10.1016/j.neuroimage.2016.08.016). The number of components is the
/// smallest number for which the next eigenvalue is below the edge.
///
/// If the noise level varies, the spectrum is wider. The function assumes that the edge is as far
/// above the variance as the smallest eigenvalue is below it.
/// @param values  eigenvalues in descending order
/// @param count  number of voxels
/// @param variance  the known noise variance; empty: the mean of the eigenvalues after the leading
///     components, corrected for the noise that these contain
[[nodiscard]] Spectrum analyse_spectrum(std::span<const double> values, double count,
                                        std::optional<double> variance = {});

}  // namespace lull::series
