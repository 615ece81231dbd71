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

/// The state of a noise curve: noise levels by intensity, lower clip limit, upper clip limit.
using CurveState = std::tuple<std::vector<float>, float, float>;
/// The state of the noise of a plane: level, autocorrelation, noise curve.
using PlaneState = std::tuple<float, std::optional<std::vector<float>>, std::optional<CurveState>>;
/// The state of a noise map: size in voxels (x, y, z), number of nodes (x, y, z), noise levels at
/// the nodes.
using MapState = std::tuple<std::array<int, 3>, std::array<int, 3>, std::vector<float>>;
/// The state of volume noise: whether the noise is Rician, noise level, sample value of magnitude
/// 0, noise map.
using VolumeState = std::tuple<bool, float, float, std::optional<MapState>>;
/// The state of Noise: noise by plane, whether the planes are in the opponent colour space, volume
/// noise if any.
using NoiseState = std::tuple<std::array<PlaneState, 3>, bool, std::optional<VolumeState>>;
/// The state of an Estimate: noise, level, standard deviation of the means of 8x8 samples,
/// certainty, reason for an uncertain estimate.
using EstimateState = std::tuple<NoiseState, std::array<float, 3>, float, bool, std::string>;

[[nodiscard]] NoiseState state_of(const Noise& noise);
/// @throws InvalidArgument  the state is invalid
[[nodiscard]] Noise noise_of(const NoiseState& state);

[[nodiscard]] EstimateState state_of(const Estimate& found);
[[nodiscard]] Estimate estimate_of(const EstimateState& state);

}  // namespace lull::python
