#pragma once
// The covariance of the volumes of a series over its voxels.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "series/samples/samples.h"
#include "series/samples/series_noise.h"

namespace lull::series {

struct Moments {
  double count = 0;                // number of voxels
  std::vector<double> means;       // mean of each volume after variance stabilisation
  std::vector<double> covariance;  // row by row; the divisor is the number of voxels
};

/// Computes the moments of the variance-stabilised samples of `volumes` over `voxels` in double
/// precision. The result does not depend on the number of threads.
/// @param voxels  indices of voxels that have a sample in each volume (VoxelState::complete)
[[nodiscard]] Moments moments_of(const Samples& samples, const Stabiliser& stabiliser,
                                 std::span<const int> volumes,
                                 std::span<const std::uint32_t> voxels);

/// Returns the moments of the volumes with the indices `places` in `moments`.
[[nodiscard]] Moments part_of(const Moments& moments, std::span<const std::size_t> places);

}  // namespace lull::series
