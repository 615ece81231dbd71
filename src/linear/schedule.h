#pragma once
// The order of the steps in which a set of planes is filtered (params.h), for all backends.

#include "linear/params.h"

namespace lull::linear {

/// The picture (x, y or z) of each plane from which a guide is computed.
enum class Source { y, x, z };

/// The parameters of a step (the pilot or an iteration), which combines the patches of all groups.
struct Step {
  bool is_pilot = false;
  float alpha = 0.5f;  // only for the pilot
  float tau = 0;       // only for iterations; 0: the last iteration
  float excess = 1;    // only for iterations
};

/// Returns the noise that iteration m = 1 .. M leaves, in units of s.
constexpr float tau_of(const SetParams& params, int m) {
  return params.tau0 * (1 - static_cast<float>(m) / static_cast<float>(params.iterations));
}
/// Returns whether iteration m finds new groups.
constexpr bool matches(const SetParams& params, int m) {
  return (m - 1) % params.rematch == 0 && m <= params.rematch * params.matchings;
}

/// Runs the steps of a set in their order. match(sizes, source) finds groups in the guide that is
/// computed from the pictures `source`, combine(sizes, step) combines the patches of these groups,
/// and start() copies y to z.
template <class Match, class Combine, class Start>
void run_steps(const SetParams& params, const Match& match, const Combine& combine,
               const Start& start) {
  match(params.pilot, Source::y);
  combine(params.pilot, Step{.is_pilot = true, .alpha = params.alpha});
  start();
  for (int m = 1; m <= params.iterations; ++m) {
    if (matches(params, m)) match(params.iteration, m == 1 ? Source::x : Source::z);
    combine(params.iteration, Step{.tau = tau_of(params, m), .excess = params.excess});
  }
}

}  // namespace lull::linear
