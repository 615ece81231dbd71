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

}  // namespace

Stabilisers stabilisers_of(const Params& params) {
  return make_stabilisers(params.noise, lean_of(params));
}

}  // namespace lull::bm3d
