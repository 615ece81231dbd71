#include "bm3d/stabilisers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/colour.h"
#include "noise/filtered_samples.h"

namespace lull::bm3d {
namespace {

/// What results lack of the mean of noise that leans (Stabiliser): the more, the more patches a
/// group was chosen from. Measured in flat areas of 0 to 20 levels with clipped noise of 20 and 40,
/// cpu.
double lean_of(const Params& params) {
  if (params.temporal > 0) return 0.023;
  const double window = std::clamp(params.hard.window, 15, 39);
  return 0.038 + 0.0165 * std::log(window / 15) / std::log(39.0 / 15);
}

/// Noise of R, G and B leans in what is filtered, Y, U and V, as far as its third power does not
/// cancel out there, and in the channels as far as they are made of those: a sixth of what each
/// leans by itself in R and B, two thirds in G, if it is independent. All of it if channels share
/// it.
std::array<double, 3> lean_of_colours(double lean, const NoiseModel& noise) {
  double variance = 0;
  for (const float sigma : noise.sigmas()) variance += static_cast<double>(sigma * sigma) / 3;
  const auto luma = static_cast<double>(noise.in_opponent_space().sigma(0));
  // Of Y, from a third of that of the channels to all of it.
  const double share = variance > 0 ? luma * luma / variance : 1;
  const double shared = std::clamp((3 * share - 1) / 2, 0.0, 1.0);
  std::array<double, 3> leans{};
  for (int i = 0; i < 3; ++i) {
    double third = 0, second = 0;  // moments of Y, U or V
    for (const float part : opponent_forward[i]) {
      third += static_cast<double>(part * part * part);
      second += static_cast<double>(part * part);
    }
    for (int c = 0; c < 3; ++c)
      leans[c] += lean * static_cast<double>(opponent_inverse[c][i]) * third / second;
  }
  for (double& l : leans) l = std::lerp(l, lean, shared);
  return leans;
}

}  // namespace

Stabilisers stabilisers_of(const Params& params, Layout layout) {
  const double lean = lean_of(params);
  return make_stabilisers(params.noise, layout == Layout::rgb ? lean_of_colours(lean, params.noise)
                                                              : std::array{lean, lean, lean});
}

}  // namespace lull::bm3d
