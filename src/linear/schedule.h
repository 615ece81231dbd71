#pragma once
// The order of the steps of a set (params.h), for all host backends.

#include <algorithm>
#include <span>

#include "linear/engine.h"

namespace lull::linear {

/// The picture of each plane from which a guide is made.
enum class Source { y, x, z };

/// Returns the remaining noise of iteration m = 1 .. M, in units of s.
constexpr float tau_of(const SetParams& params, int m) {
  return params.tau0 * (1 - static_cast<float>(m) / static_cast<float>(params.iterations));
}
/// Returns whether iteration m finds new groups.
constexpr bool matches(const SetParams& params, int m) {
  return (m - 1) % params.rematch == 0 && m <= params.rematch * params.matchings;
}

/// Filters the planes of a set: the results are the pictures x. `guide(source)` returns the guide
/// that is made of these pictures of the planes.
template <class MakeGuide>
void filter_set(Engine& engine, const SetParams& params, const GuideRange& range,
                std::span<const PlaneState> planes, const MakeGuide& guide) {
  engine.match(guide(Source::y), range, params.pilot);
  engine.combine({.is_pilot = true, .alpha = params.alpha}, planes);
  for (const PlaneState& plane : planes)
    for (int row = 0; row < plane.y.height; ++row)
      std::copy_n(plane.y.row(row), plane.y.width, plane.z.row(row));
  for (int m = 1; m <= params.iterations; ++m) {
    if (matches(params, m))
      engine.match(guide(m == 1 ? Source::x : Source::z), range, params.iteration);
    engine.combine({.tau = tau_of(params, m), .excess = params.excess}, planes);
  }
}

}  // namespace lull::linear
