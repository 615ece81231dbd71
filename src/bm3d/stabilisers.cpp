#include "bm3d/stabilisers.h"

#include <algorithm>
#include <cmath>

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

/// How much less noise leans in what is filtered. R, G and B are filtered as Y, U and V: those two
/// lean to no side, and Y is a mean, in which noise of each channel for itself leans a third as
/// much. As much as before where channels share their noise.
double share_of_lean(const NoiseModel& noise, Layout layout) {
  if (layout != Layout::rgb) return 1;
  double variance = 0;
  for (int i = 0; i < 3; ++i)
    variance += static_cast<double>(noise.sigma(i)) * static_cast<double>(noise.sigma(i)) / 3;
  const auto luma = static_cast<double>(noise.in_opponent_space().sigma(0));
  return variance > 0 ? std::min(luma * luma / variance, 1.0) : 1;
}

}  // namespace

Stabilisers stabilisers_of(const Params& params, Layout layout) {
  return make_stabilisers(params.noise, lean_of(params) * share_of_lean(params.noise, layout));
}

}  // namespace lull::bm3d
