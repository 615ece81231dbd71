#pragma once
// Estimates the errors of two ways to filter a series of volumes: by its components, or each volume
// separately.

#include <cstdint>
#include <span>
#include <vector>

#include "series/samples/samples.h"
#include "series/samples/series_noise.h"
#include "series/spectrum/symmetric_eigen.h"

namespace lull::series {

/// Expected mean squared error of each volume, in units of its noise variance.
struct Risks {
  std::vector<double> alone;     // error if the volume is filtered separately
  std::vector<double> together;  // error if the components are filtered
  std::vector<double> error;     // standard error of the difference between both errors
};

// The rotation from volumes to components commutes with the DCT and keeps the noise of the
// coefficients white. The filter sets each component with an index of at least `components` to 0.

/// Estimates the risks of soft thresholding of the DCT coefficients of 4x4x4 voxels. Source of
/// Stein's unbiased risk estimate: Donoho and Johnstone 1995, doi:10.1080/01621459.1995.10476626.
/// @param means  mean of each stabilised volume
/// @param voxels  voxels inside the object, ascending
/// @return empty vectors for fewer than 16 cubes inside the object
[[nodiscard]] Risks estimate_risks(const Samples& samples, const Stabiliser& stabiliser,
                                   std::span<const int> volumes, std::span<const double> means,
                                   const EigenSystem& eigen, int components,
                                   std::span<const std::uint32_t> voxels);

}  // namespace lull::series
