#pragma once
// The components of a covariance matrix, and which of them contain signal.

#include <cstddef>
#include <optional>

#include "series/covariance.h"
#include "series/spectrum/spectrum.h"
#include "series/spectrum/symmetric_eigen.h"

namespace lull::series {

struct Decomposition {
  /// The components with signal, then those of noise; both in descending order of eigenvalues.
  EigenSystem eigen;
  Spectrum spectrum;
};

/// Decomposes the covariance of volumes. Two groups of volumes with unrelated signals, such as the
/// real and the imaginary parts of complex samples, are decomposed separately. Their components
/// then contain less noise, and the edge of the noise, which falls with the number of volumes,
/// hides fewer weak signals.
/// @param first_group  number of volumes of the first group; 0 or all volumes: there is one group
/// @param variance  the known noise variance (spectrum.h)
[[nodiscard]] Decomposition decompose(const Moments& moments, std::size_t first_group,
                                      std::optional<double> variance);

}  // namespace lull::series
