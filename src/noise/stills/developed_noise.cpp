#include "noise/stills/developed_noise.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "noise/clipped_gaussian.h"
#include "noise/stabiliser.h"
#include "noise/stills/channel_curves.h"

// The estimator measures the noise twice. The first measurement detects the noise of demosaicing
// and determines the noise curves of R, G and B. The second measurement determines the spectra of
// the noise that remains after each channel was stabilised by its curve.

namespace lull {
namespace {

/// Factor for the levels of stabilised noise. The noise level also varies with the colour and with
/// the demosaicing of edges, so filters that assume the mean level remove too much texture.
constexpr float assumed_share = 0.85f;

/// The coefficients of Y, U and V, in the order of the blocks.
using Coefficients = std::array<std::vector<float>, 3>;

Coefficients coefficients_of(const std::array<PlaneStack, 3>& opponents,
                             const PictureBlocks& blocks) {
  Coefficients values;
  for (int i = 0; i < 3; ++i) values[i] = coefficients(opponents[i], blocks);
  return values;
}

OpponentValues spans_of(const Coefficients& values) { return {values[0], values[1], values[2]}; }

/// Returns Y, U and V of the pictures after variance stabilisation of R, G and B.
std::array<PlaneStack, 3> stabilised_opponents(std::span<const PlaneStack> rgb,
                                               const ChannelCurves& curves) {
  std::vector<PlaneStack> stabilised(3);
  for (int c = 0; c < 3; ++c) {
    const Stabiliser stabiliser(*curves[c]);
    for (const Plane<float>& picture : rgb[c].pictures) {
      Plane<float> plane(picture.width(), picture.height());
      for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
          plane.view()(x, y) = stabiliser.forward()(picture.view()(x, y));
      stabilised[c].pictures.push_back(std::move(plane));
    }
  }
  std::array<PlaneStack, 3> opponents;
  for (int i = 0; i < 3; ++i) opponents[i] = opponent_plane(stabilised, i);
  return opponents;
}

/// Returns the root mean square of the noise level over the samples of a channel. At a clipping
/// limit, the noise level is lower than that of the curve. Ignores NaN.
float level_over(const PlaneStack& channel, const NoiseCurve& curve) {
  const auto variance_at = [&](float v) {
    const float sigma = curve.at(v);
    const auto kept = [&](float distance) {
      return clipped_gaussian(static_cast<double>(distance / sigma)).variance;
    };
    return static_cast<double>(sigma * sigma) * kept(v - channel.bounds.low) *
           kept(channel.bounds.high - v);
  };
  // The curve varies slowly, so steps of one level are fine enough.
  std::array<double, 256> variances;
  for (int v = 0; v < 256; ++v) variances[v] = variance_at(static_cast<float>(v));
  double sum = 0, count = 0;
  for (const Plane<float>& picture : channel.pictures)
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x) {
        const float v = picture.view()(x, y);
        if (std::isnan(v)) continue;
        sum += variances[static_cast<int>(std::clamp(v, 0.0f, 255.0f))];
        ++count;
      }
  return static_cast<float>(std::sqrt(sum / std::max(count, 1.0)));
}

/// Multiplies the curve by the measured level of stabilised noise, divided by the expected level.
std::shared_ptr<const NoiseCurve> rescaled(const NoiseCurve& curve, float stabilised_level) {
  auto result = std::make_shared<NoiseCurve>(curve);
  const float ratio = stabilised_level / stabilised_sigma(curve);
  for (float& sigma : result->sigma) sigma *= ratio;
  return result;
}

NoiseModel model_of(const DemosaicedNoise& noise, float share) {
  std::array<PlaneNoise, 3> planes;
  for (int i = 0; i < 3; ++i) {
    planes[i] = noise_of(noise.tables[i]);
    planes[i].sigma *= share;
  }
  return NoiseModel::of_opponents(planes);
}

}  // namespace

DevelopedNoise developed_noise(std::span<const PlaneStack> rgb,
                               const std::array<PlaneStack, 3>& opponents, std::size_t max_blocks,
                               double rounding) {
  const PictureBlocks blocks = cut_blocks(opponents[0], rgb, max_blocks);
  const UsableBlocks usable = usable_developed_blocks(blocks);
  Coefficients values = coefficients_of(opponents, blocks);
  const DemosaicedNoise measured = demosaiced_noise(spans_of(values), blocks, usable, rounding);
  DevelopedNoise result;
  result.found = measured.found;
  if (measured.found == Demosaicing::none) return result;
  result.noise = model_of(measured, 1);
  result.level = measured.level;
  result.coarse = std::sqrt(measured.tables[0][0]) / 8;
  result.confidence = static_cast<float>(measured.agreement);
  const ChannelCurves curves = channel_curves(spans_of(values), blocks, usable, measured);
  if (!curves[0]) return result;
  values = coefficients_of(stabilised_opponents(rgb, curves), blocks);
  const DemosaicedNoise stabilised = stabilised_noise(spans_of(values), blocks, usable);
  if (stabilised.found == Demosaicing::none) return result;
  result.noise = model_of(stabilised, assumed_share);
  for (int c = 0; c < 3; ++c) {
    const auto curve = rescaled(*curves[c], std::max(stabilised.level[c], 0.1f));
    result.noise.plane(c).curve = curve;
    result.level[c] = level_over(rgb[c], *curve);
  }
  return result;
}

}  // namespace lull
