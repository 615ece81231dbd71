#pragma once
// The components of a covariance matrix, and the number of components that contain signal.

#include <cstddef>
#include <optional>

#include "series/covariance.h"
#include "series/spectrum/spectrum.h"
#include "series/spectrum/symmetric_eigen.h"

namespace lull::series {

struct Decomposition {
  /// The components with signal, followed by the components of noise, each in descending order of
  /// eigenvalues.
  EigenSystem eigen;
  Spectrum spectrum;
};

/// Decomposes the covariance of volumes. If the volumes form two groups with unrelated signals
/// (real and imaginary parts), the function decomposes each group separately. The noise then hides
/// fewer weak signals, because the noise spectrum of a smaller group ends at a lower eigenvalue.
/// @param first_group  number of volumes of the first group; 0 or all volumes: there is one group
/// @param variance  the known noise variance (spectrum.h)
[[nodiscard]] Decomposition decompose(const Moments& moments, std::size_t first_group,
                                      std::optional<double> variance);

}  // namespace lull::series
