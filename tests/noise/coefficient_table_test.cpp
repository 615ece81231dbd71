#include "noise/coefficient_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/coloured_noise.h"

namespace lull {
namespace {

using test_support::averaged_noise;
using test_support::blurred_noise;
using test_support::slanted_correlation;

double largest_difference(const Autocorrelation& a, const Autocorrelation& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    most = std::max(most, static_cast<double>(std::abs(a[k] - b[k])));
  return most;
}

TEST(CoefficientTable, IsConstantForWhiteNoise) {
  const CoefficientTable table = table_of({7, nullptr, nullptr});
  for (const float variance : table) EXPECT_EQ(variance, 49);
  const PlaneNoise back = noise_of(table);
  EXPECT_FLOAT_EQ(back.sigma, 7);
  EXPECT_TRUE(back.is_white());
}

TEST(CoefficientTable, ConvertsBackToTheNoise) {
  for (const auto& correlation :
       {blurred_noise(8, 8, 1, true, true).correlation,
        blurred_noise(8, 8, 1, true, false).correlation, averaged_noise(8, 8, 1, 3).correlation,
        averaged_noise(8, 8, 1, 5).correlation, averaged_noise(8, 8, 1, 7).correlation}) {
    const PlaneNoise noise{12, correlation, nullptr};
    const PlaneNoise back = noise_of(table_of(noise));
    EXPECT_NEAR(back.sigma, 12, 1e-3);
    ASSERT_FALSE(back.is_white());
    EXPECT_LT(largest_difference(*back.correlation, *correlation), 1e-3);
    EXPECT_NO_THROW(validate(NoiseModel::of_opponents({back, back, back})));
  }
}

// The autocorrelation at (dx, dy) differs from that at (-dx, dy), but the variances equal those of
// symmetric noise.
TEST(CoefficientTable, KeepsTheVariancesOfSlantedNoise) {
  const CoefficientTable table = table_of({10, slanted_correlation(), nullptr});
  const CoefficientTable again = table_of(noise_of(table));
  for (int k = 0; k < 64; ++k) EXPECT_NEAR(again[k], table[k], 0.02f * table[k] + 0.5f) << k;
}

// Measured tables may be inconsistent: the noise derived from them has the same level and a valid
// autocorrelation, and its table is similar.
TEST(CoefficientTable, InconsistentVariancesGiveSimilarNoise) {
  CoefficientTable table;
  for (int k = 0; k < 64; ++k) {
    const int v = k / 8, u = k % 8;
    table[k] = 100 * std::exp(-0.7f * static_cast<float>(v + u)) * (k % 3 == 0 ? 1.3f : 0.8f);
  }
  const PlaneNoise noise = noise_of(table);
  EXPECT_NO_THROW(validate(NoiseModel::of_opponents({noise, noise, noise})));
  const CoefficientTable again = table_of(noise);
  double mean = 0, mean_again = 0, difference = 0;
  for (int k = 0; k < 64; ++k) {
    EXPECT_GT(again[k], 0) << k;
    mean += static_cast<double>(table[k]) / 64;
    mean_again += static_cast<double>(again[k]) / 64;
    difference += std::abs(std::log(static_cast<double>(again[k] / table[k]))) / 64;
  }
  EXPECT_NEAR(mean_again, mean, 0.01 * mean);
  EXPECT_LT(difference, 0.5) << "of logarithms, in the mean";
}

TEST(CoefficientTable, ZerosGiveNoNoise) {
  EXPECT_EQ(noise_of(CoefficientTable{}).sigma, 0);
  CoefficientTable broken{};
  broken[5] = std::nanf("");
  EXPECT_EQ(noise_of(broken).sigma, 0);
  CoefficientTable one{};  // only one coefficient has variance
  one[1] = 64;
  const PlaneNoise noise = noise_of(one);
  EXPECT_NEAR(noise.sigma, 1, 1e-4);
  EXPECT_NO_THROW(validate(NoiseModel::of_opponents({noise, noise, noise})));
}

}  // namespace
}  // namespace lull
