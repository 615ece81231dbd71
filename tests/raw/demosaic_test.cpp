#include "raw/demosaic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/colour.h"
#include "core/plane.h"

namespace lull::raw {
namespace {

constexpr std::array<std::array<std::uint8_t, 4>, 4> patterns = {
    {{0, 1, 1, 2}, {2, 1, 1, 0}, {1, 0, 2, 1}, {1, 2, 0, 1}}};

struct Colours {
  explicit Colours(int width, int height)
      : planes{Plane<float>(width, height), Plane<float>(width, height),
               Plane<float>(width, height)} {}
  std::array<PlaneView<float>, 3> views() {
    return {planes[0].view(), planes[1].view(), planes[2].view()};
  }
  std::array<Plane<float>, 3> planes;
};

float ramp(int colour, int x, int y) {
  return 20.0f * static_cast<float>(colour + 1) +
         static_cast<float>(colour - 1) * 0.5f * static_cast<float>(x) +
         0.25f * static_cast<float>(y);
}

TEST(LinearDemosaicing, ReproducesRampsOfAllPatternsAwayFromTheBorder) {
  for (const auto& colours : patterns)
    for (const LinearFilters filters : {LinearFilters::malvar, LinearFilters::bilinear}) {
      const BayerPattern pattern{colours};
      Plane<float> mosaic(20, 18);
      for (int y = 0; y < 18; ++y)
        for (int x = 0; x < 20; ++x) mosaic.view()(x, y) = ramp(pattern.at(x, y), x, y);
      Colours rgb(20, 18);
      demosaic(mosaic.view(), pattern, filters, rgb.views());
      for (int c = 0; c < 3; ++c)
        for (int y = 2; y < 16; ++y)
          for (int x = 2; x < 18; ++x)
            ASSERT_NEAR(rgb.views()[c](x, y), ramp(c, x, y), 1e-4f) << c << ' ' << x << ' ' << y;
    }
}

TEST(LinearDemosaicing, KeepsTheSampleOfEachSiteAlsoAtTheBorder) {
  for (const auto& colours : patterns) {
    const BayerPattern pattern{colours};
    Plane<float> mosaic(7, 5);
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 7; ++x) mosaic.view()(x, y) = static_cast<float>((x * 37 + y * 91) % 50);
    Colours rgb(7, 5);
    demosaic(mosaic.view(), pattern, LinearFilters::malvar, rgb.views());
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 7; ++x)
        EXPECT_EQ(rgb.views()[pattern.at(x, y)](x, y), mosaic.view()(x, y));
  }
}

TEST(DemosaicedNoise, StatesTheCovarianceThatSamplesHave) {
  constexpr int side = 512;
  const std::array<float, 3> sigma{3, 2, 2.5f};
  for (const LinearFilters filters : {LinearFilters::malvar, LinearFilters::bilinear}) {
    const BayerPattern pattern{patterns[2]};
    Plane<float> mosaic(side, side);
    std::mt19937 rng(5);
    std::normal_distribution<float> normal;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) mosaic.view()(x, y) = sigma[pattern.at(x, y)] * normal(rng);
    Colours rgb(side, side);
    demosaic(mosaic.view(), pattern, filters, rgb.views());
    apply_colour_matrix(opponent_forward, rgb.views());
    const NoiseModel model = demosaiced_noise(pattern, filters, sigma).in_opponent_space();
    for (int o = 0; o < 3; ++o)
      for (const auto& [dx, dy] :
           {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}, {-1, 1}, {2, 0}, {0, 2}, {3, 1}, {4, 0}}) {
        double sum = 0;
        for (int y = 8; y < side - 8; ++y)
          for (int x = 8; x < side - 8; ++x)
            sum += static_cast<double>(rgb.views()[o](x, y) * rgb.views()[o](x + dx, y + dy));
        const double measured = sum / ((side - 16) * (side - 16));
        const auto s = static_cast<double>(model.plane(o).sigma);
        EXPECT_NEAR(measured / (s * s), model.plane(o).correlation_at(dx, dy), 0.02)
            << "opponent " << o << ", lag " << dx << ' ' << dy;
      }
  }
}

TEST(DemosaicedNoise, IsAValidModel) {
  EXPECT_NO_THROW(
      validate(demosaiced_noise({patterns[0]}, LinearFilters::malvar, {1.5f, 1, 1.2f})));
}

}  // namespace
}  // namespace lull::raw
