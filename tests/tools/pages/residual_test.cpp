// Tests whether lull recognises that the residual looks like noise: known figures and verdicts.

#include "tools/pages/residual.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "core/plane.h"
#include "tools/pages/residual_planes.h"

namespace lull::tools {
namespace {

using Answer = ResidualVerdict::Answer;
constexpr int width = 256, height = 192;
constexpr float sigma = 10;

/// A picture with a flat left side and stripes on the right, and the part that is removed from it.
struct Pictures {
  Plane<float> before{width, height}, after{width, height}, level{width, height};
  Plane<std::uint8_t> counts{width, height};

  template <class Removed>
  explicit Pictures(Removed&& removed) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        after.view()(x, y) = x < 192 ? 100.0f : 100 + 40 * std::sin(0.7f * static_cast<float>(x));
        before.view()(x, y) = after.view()(x, y) + removed(x, y);
        level.view()(x, y) = sigma;
        counts.view()(x, y) = 1;
      }
  }
  ResidualFindings findings() {
    ResidualSums sums;
    sums.add({before.view(), after.view(), level.view(), counts.view()});
    return sums.findings();
  }
};

auto white(float of = sigma) {
  return [=, random = std::make_shared<std::mt19937>(5),
          normal = std::normal_distribution<float>(0, of)](int, int) mutable {
    return normal(*random);
  };
}

ResidualVerdict verdict_of(const ResidualFindings& found, NoiseOrigin origin = NoiseOrigin::found) {
  return assess_residual(found, {.sigma = sigma}, origin);
}

TEST(Residual, WhiteNoiseLooksLikeNoise) {
  const ResidualFindings found = Pictures(white()).findings();
  EXPECT_EQ(found.blocks, width * height / 64);
  EXPECT_NEAR(found.rms, sigma, 0.2);
  EXPECT_NEAR(found.level, 1, 0.02);
  EXPECT_NEAR(found.edges, 1, 0.03);
  EXPECT_EQ(found.correlation[lag_index(0, 0)], 1);
  for (int dy = -7; dy <= 7; ++dy)
    for (int dx = -7; dx <= 7; ++dx)
      if (dx != 0 || dy != 0) {
        EXPECT_NEAR(found.correlation[lag_index(dx, dy)], 0, 0.025);
        EXPECT_EQ(found.correlation[lag_index(dx, dy)], found.correlation[lag_index(-dx, -dy)]);
      }
  EXPECT_EQ(verdict_of(found).answer, Answer::yes);
  EXPECT_EQ(verdict_of(found).reasons.size(), 3u);
}

TEST(Residual, MeasuresTheCorrelationOfAMovingMean) {
  // The sum of two adjacent samples has a correlation of 1/2 at a horizontal distance of one, and
  // no other.
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, sigma);
  std::vector<float> noise(static_cast<std::size_t>(width + 1) * height);
  for (float& v : noise) v = normal(random);
  const auto at = [&](int x, int y) {
    return noise[static_cast<std::size_t>(y) * (width + 1) + x];
  };
  const ResidualFindings found = Pictures([&](int x, int y) {
                                   return (at(x, y) + at(x + 1, y)) / std::sqrt(2.0f);
                                 }).findings();
  EXPECT_NEAR(found.correlation[lag_index(1, 0)], 0.5, 0.02);
  EXPECT_NEAR(found.correlation[lag_index(0, 1)], 0, 0.02);
  EXPECT_NEAR(found.correlation[lag_index(2, 0)], 0, 0.02);
  EXPECT_EQ(verdict_of(found).answer, Answer::no);  // where white noise was estimated
  EXPECT_EQ(verdict_of(found, NoiseOrigin::assumed).answer, Answer::yes);
}

TEST(Residual, StructureDoesNotLookLikeNoise) {
  auto noise = white();
  const auto stripes = [&](int x, int y) {
    return noise(x, y) + (x < 192 ? 0.0f : 12 * std::sin(0.7f * static_cast<float>(x)));
  };
  const ResidualFindings found = Pictures(stripes).findings();
  EXPECT_GT(found.edges, 1.2);
  EXPECT_GT(found.edge_correlation_excess, 0.2);
  for (const NoiseOrigin origin : {NoiseOrigin::found, NoiseOrigin::stated, NoiseOrigin::assumed})
    EXPECT_EQ(verdict_of(found, origin).answer, Answer::no);
}

TEST(Residual, ExcessiveRemovalDoesNotLookLikeNoise) {
  const ResidualFindings found = Pictures(white(1.2f * sigma)).findings();
  EXPECT_NEAR(found.level, 1.2, 0.02);
  EXPECT_EQ(verdict_of(found).answer, Answer::no);
  EXPECT_EQ(verdict_of(found, NoiseOrigin::stated).answer, Answer::yes);  // no other level is known
}

TEST(Residual, StrongerResidualAtEdgesIsUndecidedForUnknownNoise) {
  auto noise = white();
  const ResidualFindings found =
      Pictures([&](int x, int y) { return noise(x, y) * (x < 192 ? 0.7f : 1.0f); }).findings();
  EXPECT_NEAR(found.edges, 1 / 0.7, 0.06);
  EXPECT_EQ(verdict_of(found, NoiseOrigin::assumed).answer, Answer::cannot_tell);
  EXPECT_EQ(verdict_of(found).answer, Answer::no);
}

TEST(Residual, NoOrTooFewSamplesAreUndecided) {
  EXPECT_EQ(verdict_of(ResidualSums().findings()).answer, Answer::cannot_tell);
  Pictures none([](int, int) { return 0.0f; });
  EXPECT_EQ(verdict_of(none.findings()).why, "nothing was removed");
  Pictures some(white());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) some.counts.view()(x, y) = x < 64 && y < 64;
  EXPECT_EQ(some.findings().blocks, 64);
  EXPECT_EQ(verdict_of(some.findings()).why, "too few samples were measured");
}

TEST(Residual, LevelOfPhotonNoiseRisesWithTheSignal) {
  const VolumeNoise photons{
      .sigma = 20, .map = {}, .photons = PhotonNoise{.gain = 2, .offset = 10}};
  const ExpectedNoise noise(SceneNoise{}, Layout::gray, photons);
  Plane<float> after(2, 1), levels(2, 1);
  after.view()(0, 0) = 60;
  after.view()(1, 0) = 210;
  noise.levels(after.view(), 0, 0, 0, levels.view());
  EXPECT_FLOAT_EQ(levels.view()(0, 0), 10);  // 25 photons
  EXPECT_FLOAT_EQ(levels.view()(1, 0), 20);  // 100 photons
  EXPECT_FLOAT_EQ(noise.min_signal(), 12);   // one photon
}

TEST(Residual, ConstantBlocksDoNotCount) {
  Pictures padded(white());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < 96; ++x) padded.before.view()(x, y) = padded.after.view()(x, y) = 0;
  const ResidualFindings found = padded.findings();
  EXPECT_EQ(found.blocks, (width - 96) * height / 64);
  EXPECT_NEAR(found.edges, 1, 0.04);
}

}  // namespace
}  // namespace lull::tools
