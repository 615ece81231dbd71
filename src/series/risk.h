#pragma once
// Whether components or volumes are easier to filter: their expected errors.

#include <cstdint>
#include <span>
#include <vector>

#include "series/samples.h"
#include "series/series_noise.h"
#include "series/symmetric_eigen.h"

namespace lull::series {

/// Expected mean squared errors per voxel of each volume, in units of its noise variance.
struct Risks {
  std::vector<double> alone;     // the volume is filtered alone
  std::vector<double> together;  // the components are filtered
  std::vector<double> error;     // standard error of the difference
};

/// Estimates the risks for a simple filter: the soft threshold of the coefficients of the DCT of
/// cubes of 4 x 4 x 4 voxels. Stein's unbiased risk estimate gives the error without knowledge of
/// the signal (Donoho and Johnstone 1995, "Adapting to unknown smoothness via wavelet shrinkage",
/// doi:10.1080/01621459.1995.10476626). The rotation of the volumes keeps the noise of the
/// coefficients white, and commutes with the DCT. Some cubes inside the object are used.
/// @param means  mean of each of the volumes, stabilised, which components do not contain
/// @param eigen  the components of the volumes
/// @param components  number of components that are filtered; the others are dropped
/// @param voxels  voxels inside the object, in ascending order
/// @return empty if no cube is inside the object
[[nodiscard]] Risks estimate_risks(const Samples& samples, const Stabiliser& stabiliser,
                                   std::span<const int> volumes, std::span<const double> means,
                                   const EigenSystem& eigen, int components,
                                   std::span<const std::uint32_t> voxels);

}  // namespace lull::series
