#include "bm3d/stabilisers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/colour.h"
#include "noise/filtered_samples.h"

namespace lull::bm3d {
namespace {

/// Returns the skew bias of the planes (noise/stabiliser.h): the amount by which results
/// underestimate the mean of skewed noise. The numbers come from measurements in dark flat areas
/// with clipped noise of sigma 20 and 40.
double skew_bias_of(const Params& params) {
  if (params.temporal > 0) return 0.023;
  if (params.linear_combinations) return 0.036;
  const double window = std::clamp(params.hard.window, 15, 39);
  return 0.038 + 0.0165 * std::log(window / 15) / std::log(39.0 / 15);
}

/// Returns the skew bias of each colour channel. With equal noise in all channels, each channel has
/// the full bias. With independent noise, the colour transform reduces the bias of a single
/// channel: to a sixth in R and B, and to two thirds in G.
std::array<double, 3> skew_bias_of_channels(double skew_bias, const NoiseModel& noise) {
  double variance = 0;
  for (const float sigma : noise.sigmas()) variance += static_cast<double>(sigma * sigma) / 3;
  const auto luma = static_cast<double>(noise.in_opponent_space().sigma(0));
  // Noise variance of Y, divided by the mean noise variance of R, G and B: a third for independent
  // noise, and 1 for equal noise in all channels.
  const double share = variance > 0 ? luma * luma / variance : 1;
  const double shared = std::clamp((3 * share - 1) / 2, 0.0, 1.0);
  std::array<double, 3> skew_biases{};
  for (int i = 0; i < 3; ++i) {
    double third = 0, second = 0;  // third and second moment of the noise in Y, U or V
    for (const float part : opponent_forward[i]) {
      third += static_cast<double>(part * part * part);
      second += static_cast<double>(part * part);
    }
    for (int c = 0; c < 3; ++c)
      skew_biases[c] += skew_bias * static_cast<double>(opponent_inverse[c][i]) * third / second;
  }
  for (double& l : skew_biases) l = std::lerp(l, skew_bias, shared);
  return skew_biases;
}

}  // namespace

Stabilisers stabilisers_of(const Params& params, Layout layout) {
  const double skew_bias = skew_bias_of(params);
  return make_stabilisers(params.noise, layout == Layout::rgb
                                            ? skew_bias_of_channels(skew_bias, params.noise)
                                            : std::array{skew_bias, skew_bias, skew_bias});
}

}  // namespace lull::bm3d
