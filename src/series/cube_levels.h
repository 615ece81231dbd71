#pragma once
// Estimates the noise levels of the volumes from small cubes of voxels.

#include <cstdint>
#include <span>
#include <vector>

#include "series/samples/samples.h"
#include "series/samples/series_noise.h"

namespace lull::series {

/// Estimates the noise level of each volume from the high frequencies of cubes of 4x4x4 voxels. The
/// estimate uses the half of the cubes that contains the least structure. From the high frequencies
/// of a volume, the function removes the structure that other volumes predict.
///
/// Structure that remains raises the level of a volume. The spectrum of such a volume is not white:
/// the middle frequencies have more energy than the high frequencies. From both energies, the
/// function computes limits of the noise level. Within these limits, the level of such a volume is
/// the median of the levels of the volumes with a white spectrum.
///
/// For Rician noise, the function corrects the lower variance of samples with a weak signal.
/// @param noise  the kind of the noise and the sample that represents a magnitude of 0
/// @param volumes  the volumes with noise
/// @param voxels  voxels inside the imaged object, in ascending order
/// @return the level of each of `volumes` on the 0..255 scale; an empty vector if the object
///     contains too few cubes, volumes are linearly dependent, or fewer than three volumes have
///     white noise
[[nodiscard]] std::vector<double> levels_by_cubes(const Samples& samples, const SeriesNoise& noise,
                                                  std::span<const int> volumes,
                                                  std::span<const std::uint32_t> voxels);

}  // namespace lull::series
