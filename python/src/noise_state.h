#pragma once
// Noise as plain values, for Python to pickle.

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "python/src/noise.h"

namespace lull::python {

/// Level; autocorrelation; curve: levels by intensity, and where samples end.
using CurveState = std::tuple<std::vector<float>, float, float>;
using PlaneState = std::tuple<float, std::optional<std::vector<float>>, std::optional<CurveState>>;
/// Voxels, nodes, values.
using MapState = std::tuple<std::array<int, 3>, std::array<int, 3>, std::vector<float>>;
/// Whether it is Rician; level; zero; map.
using VolumeState = std::tuple<bool, float, float, std::optional<MapState>>;
/// Planes; whether they are those of the opponent space; of volumes that are made even.
using NoiseState = std::tuple<std::array<PlaneState, 3>, bool, std::optional<VolumeState>>;
/// Noise, level, coarse, certain, why.
using FoundState = std::tuple<NoiseState, std::array<float, 3>, float, bool, std::string>;

[[nodiscard]] NoiseState state_of(const Noise& noise);
/// @throws InvalidArgument  a state that is none
[[nodiscard]] Noise noise_of(const NoiseState& state);

[[nodiscard]] FoundState state_of(const Found& found);
[[nodiscard]] Found found_of(const FoundState& state);

}  // namespace lull::python
