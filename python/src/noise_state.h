#pragma once
// Noise as plain values, for pickling in Python.

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "python/src/noise.h"

namespace lull::python {

/// Curve: levels by intensity, lower and upper clip limit. Plane: level, autocorrelation, curve.
using CurveState = std::tuple<std::vector<float>, float, float>;
using PlaneState = std::tuple<float, std::optional<std::vector<float>>, std::optional<CurveState>>;
/// Voxels, nodes, values.
using MapState = std::tuple<std::array<int, 3>, std::array<int, 3>, std::vector<float>>;
/// Whether the noise is Rician, its level, the sample for 0, the map.
using VolumeState = std::tuple<bool, float, float, std::optional<MapState>>;
/// State of Noise: the noise of the planes, whether these planes are in the opponent colour space,
/// and the noise of variance-stabilised volumes.
using NoiseState = std::tuple<std::array<PlaneState, 3>, bool, std::optional<VolumeState>>;
/// Noise, level, coarseness, whether it is certain, and the reason if not.
using EstimateState = std::tuple<NoiseState, std::array<float, 3>, float, bool, std::string>;

[[nodiscard]] NoiseState state_of(const Noise& noise);
/// @throws InvalidArgument  the state is invalid
[[nodiscard]] Noise noise_of(const NoiseState& state);

[[nodiscard]] EstimateState state_of(const Estimate& found);
[[nodiscard]] Estimate estimate_of(const EstimateState& state);

}  // namespace lull::python
