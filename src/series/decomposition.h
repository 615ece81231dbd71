#pragma once
// The components of a covariance matrix, and which of them contain signal.

#include <cstddef>
#include <optional>

#include "series/covariance.h"
#include "series/spectrum/spectrum.h"
#include "series/spectrum/symmetric_eigen.h"

namespace lull::series {

struct Decomposition {
  /// The components with signal, and then the components of noise; both in descending order of
  /// their eigenvalues.
  EigenSystem eigen;
  Spectrum spectrum;
};

/// Decomposes the covariance of volumes. The volumes may be divided into two groups whose signals
/// are unrelated, such as the real and the imaginary parts of complex samples. Each group is then
/// decomposed by itself. The components of one group have less noise than common components, and
/// weaker signals exceed the edge of the noise, because the edge falls with the number of volumes.
/// @param first_group  number of volumes of the first group; 0 or all volumes: there is one group
/// @param variance  the known noise variance (spectrum.h)
[[nodiscard]] Decomposition decompose(const Moments& moments, std::size_t first_group,
                                      std::optional<double> variance);

}  // namespace lull::series
