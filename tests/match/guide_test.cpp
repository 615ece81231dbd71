#include "match/guide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/coloured_noise.h"
#include "support/pictures.h"

namespace lull {
namespace {

TEST(BoxAverage, AveragesExistingSamples) {
  Plane<float> fine(5, 3), coarse(3, 2);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x) fine.view()(x, y) = static_cast<float>(10 * y + x);
  box_average(fine.view(), 1, 1, coarse.view());
  EXPECT_EQ(coarse.view()(0, 0), (0 + 1 + 10 + 11) / 4.0f);
  EXPECT_EQ(coarse.view()(2, 0), (4 + 14) / 2.0f);   // right border
  EXPECT_EQ(coarse.view()(0, 1), (20 + 21) / 2.0f);  // lower border
  EXPECT_EQ(coarse.view()(2, 1), 24.0f);             // corner
  Plane<float> wide(3, 3);
  box_average(fine.view(), 1, 0, wide.view());
  EXPECT_EQ(wide.view()(1, 2), (22 + 23) / 2.0f);
}

/// Returns a text with the planes of each set and the set's guide, for example "01 in L, 2 in -C2".
std::string sets_of(Phase phase, bool over_time, const FrameFormat& format,
                    const std::array<float, 3>& sigma) {
  std::string text;
  for (const PlaneSet& set : plane_sets(phase, over_time, format, sigma)) {
    if (!text.empty()) text += ", ";
    for (const int plane : set.planes) text += std::to_string(plane);
    text += set.uses_luma ? " in L" : " in ";
    if (set.chroma_weights[0] != 0) text += set.chroma_weights[0] == 1 ? "+C1" : "+c1";
    if (set.chroma_weights[1] != 0) text += set.chroma_weights[1] == -1 ? "-C2" : "-c2";
    if (set.tau_factor != 1) text += " tau";
    if (set.is_composite()) text += " made";
  }
  return text;
}

TEST(PlaneSets, FollowTheTableOfTheHeader) {
  FrameFormat gray{.width = 32, .height = 32}, yuv444 = gray, yuv420 = gray;
  yuv444.layout = yuv420.layout = Layout::yuv;
  yuv420.chroma_shift_x = yuv420.chroma_shift_y = 1;
  constexpr std::array all{9.0f, 9.0f, 9.0f}, luma{9.0f, 0.0f, 0.0f}, chroma{0.0f, 9.0f, 9.0f},
      second{9.0f, 0.0f, 9.0f};
  for (const bool over_time : {false, true}) {
    EXPECT_EQ(sets_of(Phase::first, over_time, gray, luma), "0 in L");
    EXPECT_EQ(sets_of(Phase::second, over_time, yuv420, luma), "0 in L");
    EXPECT_EQ(sets_of(Phase::first, over_time, yuv420, {}), "");
    EXPECT_EQ(sets_of(Phase::first, over_time, {.width = 7, .height = 32}, all), "");
    EXPECT_EQ(sets_of(Phase::first, over_time, yuv420, chroma), "12 in +c1-c2 made");
    EXPECT_EQ(sets_of(Phase::second, over_time, yuv444, chroma), "12 in L+c1-c2 tau made");
  }
  EXPECT_EQ(sets_of(Phase::first, false, yuv420, all), "0 in L, 12 in +c1-c2 made");
  EXPECT_EQ(sets_of(Phase::second, false, yuv420, all), "0 in L, 12 in L+c1-c2 tau made");
  EXPECT_EQ(sets_of(Phase::first, false, yuv444, second), "0 in L, 2 in -C2 made");
  EXPECT_EQ(sets_of(Phase::second, false, yuv444, second), "02 in L-C2 tau made");
  for (const Phase phase : {Phase::first, Phase::second}) {
    EXPECT_EQ(sets_of(phase, true, yuv420, all), "0 in L, 12 in L made");
    EXPECT_EQ(sets_of(phase, true, yuv444, all), "012 in L");
    EXPECT_EQ(sets_of(phase, true, yuv444, second), "02 in L");
  }
}

TEST(PlaneSets, RgbReducesChromaWeights) {
  FrameFormat rgb{.width = 32, .height = 32, .layout = Layout::rgb};
  constexpr std::array all{9.0f, 9.0f, 9.0f};
  EXPECT_EQ(sets_of(Phase::first, false, rgb, all), "0 in L, 12 in +c1-c2 made");
  EXPECT_EQ(sets_of(Phase::second, false, rgb, all), "012 in L+c1-c2 tau made");
  EXPECT_FLOAT_EQ(plane_sets(Phase::first, false, rgb, all)[1].chroma_weights[0], std::sqrt(0.5f));
  EXPECT_FLOAT_EQ(plane_sets(Phase::second, false, rgb, all)[0].chroma_weights[0], 0.6f);
  EXPECT_FLOAT_EQ(plane_sets(Phase::second, false, rgb, all)[0].chroma_weights[1], -0.6f);
}

TEST(PlaneSets, GuideSigmaCombinesThePlanes) {
  FrameFormat format{.width = 32, .height = 32, .layout = Layout::yuv};
  format.chroma_shift_x = 1;
  const NoiseModel noise({10, 3, 4});
  EXPECT_FLOAT_EQ(guide_sigma({{0}}, format, noise), 10);
  EXPECT_FLOAT_EQ(guide_sigma({{1, 2}}, format, noise), 10 / std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(guide_sigma({{1, 2}, true, {1, -1}}, format, noise), 5);
  EXPECT_FLOAT_EQ(guide_sigma({{2}, false, {0, -1}}, format, noise), 4);
}

// The expected bias is 2 sigma^2 rho, with the level and the autocorrelation of the guide.
TEST(PlaneSets, DistanceBiasCombinesThePlanes) {
  FrameFormat format{.width = 32, .height = 32, .layout = Layout::yuv};
  format.chroma_shift_x = 1;
  NoiseModel noise(std::array<float, 3>{10, 3, 4});
  EXPECT_EQ(distance_bias({{0}}, format, noise), nullptr) << "white";
  noise.plane(0).correlation = test_support::blurred_noise(8, 8, 1, true, false).correlation;
  noise.plane(2).correlation = noise.plane(0).correlation;
  const auto luma = distance_bias({{0}}, format, noise);
  EXPECT_NEAR((*luma)[lag_index(1, 0)], 2 * 100 * 4.0 / 6, 1e-3);
  EXPECT_NEAR((*luma)[lag_index(-2, 0)], 2 * 100 * 1.0 / 6, 1e-3);
  EXPECT_EQ((*luma)[lag_index(0, 1)], 0);
  EXPECT_EQ(distance_bias({{1}, false, {1, 0}}, format, noise), nullptr) << "white";
  const auto chroma = distance_bias({{1, 2}, false, {0.5f, -0.5f}}, format, noise);
  EXPECT_NEAR((*chroma)[lag_index(0, 0)], 2 * 0.25 * (9 + 16), 1e-3);
  EXPECT_NEAR((*chroma)[lag_index(1, 0)], 2 * 0.25 * 16 * 4.0 / 6, 1e-3);
  // Each sample is the mean of two horizontally adjacent samples: two adjacent means are 1, 2, 2
  // and 3 original samples apart.
  const auto coarse = distance_bias({{1, 2}}, format, noise);
  EXPECT_NEAR((*coarse)[lag_index(0, 0)], 2 * 100 * (2 + 2 * 4.0 / 6) / 4, 1e-3);
  EXPECT_NEAR((*coarse)[lag_index(1, 0)], 2 * 100 * (4.0 / 6 + 2.0 / 6) / 4, 1e-3);
}

}  // namespace
}  // namespace lull
