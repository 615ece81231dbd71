#pragma once
// Converts noise models and noise estimates to tuples of numbers and strings, and back. Python's
// module pickle stores the tuples.

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "python/src/noise.h"

namespace lull::python {

/// The tuple of a noise curve. Elements: noise levels by intensity, lower clipping limit, upper
/// clipping limit.
using CurveState = std::tuple<std::vector<float>, float, float>;
/// The tuple of the noise of a plane. Elements: noise level, autocorrelation, noise curve.
using PlaneState = std::tuple<float, std::optional<std::vector<float>>, std::optional<CurveState>>;
/// The tuple of a noise map. Elements: size in voxels (x, y, z), number of nodes (x, y, z), noise
/// levels at the nodes.
using MapState = std::tuple<std::array<int, 3>, std::array<int, 3>, std::vector<float>>;
/// The tuple of the noise of a volume (class VolumeNoise):
/// - element 0: true for Rician noise, false for Gaussian noise
/// - element 1: the noise level
/// - element 2: for Rician noise, the sample value that represents the magnitude 0
/// - element 3: the noise map, if any
using VolumeState = std::tuple<bool, float, float, std::optional<MapState>>;
/// The tuple of the class Noise:
/// - element 0: the noise of each plane
/// - element 1: true if the planes are in the opponent colour space
/// - element 2: the noise of a volume, if any
using NoiseState = std::tuple<std::array<PlaneState, 3>, bool, std::optional<VolumeState>>;
/// The tuple of the class Estimate. Elements: noise, noise level of each plane, standard deviation
/// of the means of 8x8 samples, whether the estimate is certain, reason for an uncertain estimate.
using EstimateState = std::tuple<NoiseState, std::array<float, 3>, float, bool, std::string>;

[[nodiscard]] NoiseState state_of(const Noise& noise);
/// @throws InvalidArgument  the tuple does not describe a valid noise model
[[nodiscard]] Noise noise_of(const NoiseState& state);

[[nodiscard]] EstimateState state_of(const Estimate& found);
[[nodiscard]] Estimate estimate_of(const EstimateState& state);

}  // namespace lull::python
