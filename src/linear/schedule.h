#pragma once
// The order of the steps that filter a set of planes (params.h). All backends use this order.

#include "linear/params.h"

namespace lull::linear {

/// The three pictures of a plane (params.h), from which the session can compute a guide.
enum class Source { y, x, z };

/// The parameters of a step (the pilot or an iteration).
struct Step {
  bool is_pilot = false;
  float alpha = 0.5f;  // pilot only
  float tau = 0;       // iterations only; 0: the last iteration
  float excess = 1;    // iterations only

  /// Returns true if the step computes a new picture z.
  constexpr bool has_z() const { return !is_pilot && tau > 0; }
};

/// Returns the standard deviation of the noise that iteration m = 1 .. M leaves in z, in units of
/// the standard deviation of the noise in y.
constexpr float tau_of(const SetParams& params, int m) {
  return params.tau0 * (1 - static_cast<float>(m) / static_cast<float>(params.iterations));
}
/// Returns true if the matcher finds new groups for iteration m.
constexpr bool matches(const SetParams& params, int m) {
  return (m - 1) % params.rematch == 0 && m <= params.rematch * params.matchings;
}

/// Returns the parameters of step m: the pilot for m = 0, and iteration m for m = 1 .. M.
constexpr Step step_of(const SetParams& params, int m) {
  if (m == 0) return {.is_pilot = true, .alpha = params.alpha};
  return {.tau = tau_of(params, m), .excess = params.excess};
}

/// Runs the pilot and all iterations of a set of planes. match() must find the groups in the guide
/// that `source` selects, combine() must combine the patches, and start() must copy y to z.
template <class Match, class Combine, class Start>
void run_steps(const SetParams& params, const Match& match, const Combine& combine,
               const Start& start) {
  match(params.pilot, Source::y);
  combine(params.pilot, step_of(params, 0));
  start();
  for (int m = 1; m <= params.iterations; ++m) {
    if (matches(params, m)) match(params.iteration, m == 1 ? Source::x : Source::z);
    combine(params.iteration, step_of(params, m));
  }
}

}  // namespace lull::linear
