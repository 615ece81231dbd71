#pragma once
// Noise as plain values, for pickling in Python.

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "python/src/noise.h"

namespace lull::python {

/// State of a curve: levels by intensity, lower clip limit, upper clip limit.
using CurveState = std::tuple<std::vector<float>, float, float>;
/// State of the noise of a plane: level, autocorrelation, curve.
using PlaneState = std::tuple<float, std::optional<std::vector<float>>, std::optional<CurveState>>;
/// State of a map of the level: numbers of voxels, numbers of nodes, values.
using MapState = std::tuple<std::array<int, 3>, std::array<int, 3>, std::vector<float>>;
/// State of the noise of volumes: whether it is Rician, its level, the sample that represents 0,
/// and the map of the level.
using VolumeState = std::tuple<bool, float, float, std::optional<MapState>>;
/// State of Noise: the noise of the planes, whether these planes are in the opponent colour space,
/// and the noise of variance-stabilised volumes.
using NoiseState = std::tuple<std::array<PlaneState, 3>, bool, std::optional<VolumeState>>;
/// State of an estimate: noise, level, coarseness, whether the estimate is certain, and the reason
/// if it is not.
using EstimateState = std::tuple<NoiseState, std::array<float, 3>, float, bool, std::string>;

[[nodiscard]] NoiseState state_of(const Noise& noise);
/// @throws InvalidArgument  the state is invalid
[[nodiscard]] Noise noise_of(const NoiseState& state);

[[nodiscard]] EstimateState state_of(const Estimate& found);
[[nodiscard]] Estimate estimate_of(const EstimateState& state);

}  // namespace lull::python
