#pragma once
// The parameters of the two Bayes phases of the profile `best`, shared with the GPU kernels that
// are specialised for it (cuda/bayes/match_layout.h).

#include <array>

#include "bm3d/params.h"

namespace lull::bm3d {

/// The parameters of the two Bayes phases, except BayesParams::motion_bias, which depends on the
/// noise.
inline constexpr std::array<BayesParams, 2> best_bayes_phases{
    {{.side = 10, .group = 64, .step = 6, .threshold = 10, .sharpenings = 3},
     {.side = 8, .group = 32, .step = 4, .threshold = 1.3f}}};

}  // namespace lull::bm3d
