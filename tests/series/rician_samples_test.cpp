#include "series/filter/rician_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "series/components.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 32, .height = 32, .slices = 16, .volumes = 10};
constexpr double sigma = 5, zero = 20;

/// A Rician series with the signal `signal(v)` sigma in each voxel of a volume, and components that
/// predict exactly that.
struct Known {
  TestSeries series{shape};
  TestSeries components{{shape.width, shape.height, shape.slices, 1}};
  Fit fit;

  template <class Signal>
  explicit Known(const Signal& signal) {
    test::Normal normal;
    series.fill([&](int v, int, int, int) {
      return zero + std::hypot(sigma * signal(v) + sigma * normal(), sigma * normal());
    });
    fit.noise = test::gaussian(shape.volumes, sigma);
    fit.noise.kind = NoiseKind::rician;
    fit.noise.zero = zero;
    fit.states.assign(shape.voxels(), VoxelState::complete);
    std::vector<double> means, row(shape.volumes);
    for (int v = 0; v < shape.volumes; ++v) means.push_back(stabilised(signal(v)));
    row[0] = 1;
    fit.basis = Basis(test::all_volumes(shape.volumes), means, row, 1);
  }

  /// The stabilised value whose inverse is this signal.
  static double stabilised(double signal) {
    static const RicianStabiliser stabiliser;
    double low = 0, high = signal + 2;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (static_cast<double>(stabiliser.inverse(static_cast<float>(middle))) < signal ? low : high) =
          middle;
    }
    return high;
  }
  /// The mean and the standard deviation of the new samples of a volume, in units of sigma.
  std::pair<double, double> moments(int volume) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < shape.voxels(); ++i) {
      const double value = (static_cast<double>(series.at(volume, i)) - zero) / sigma;
      sum += value;
      squares += value * value;
    }
    const double count = shape.voxels();
    return {sum / count, std::sqrt(squares / count - sum * sum / count / count)};
  }
};

TEST(RicianSamples, MeanIsTheSignalAndNoiseHasOneLevel) {
  Known known([](int v) { return 0.6 + 0.7 * v; });
  replace_by_expectations(known.series.samples(), known.fit, known.components.samples());
  for (int v = 0; v < shape.volumes; ++v) {
    const auto [mean, deviation] = known.moments(v);
    EXPECT_NEAR(mean, 0.6 + 0.7 * v, 0.03) << v;
    EXPECT_NEAR(deviation, 1, 0.03) << v;
  }
}

TEST(RicianSamples, AirBecomesZero) {
  Known known([](int) { return 0.0; });
  replace_by_expectations(known.series.samples(), known.fit, known.components.samples());
  for (int v = 0; v < shape.volumes; ++v) EXPECT_LT(known.moments(v).first, 0.02);
}

TEST(RicianSamples, WeakVolumesInsideAnObjectDoNotBecomeZero) {
  Known known([](int v) { return v == 3 ? 0.0 : 4.0; });
  replace_by_expectations(known.series.samples(), known.fit, known.components.samples());
  EXPECT_GT(known.moments(3).first, 0.2);
}

TEST(RicianSamples, VoxelsWithoutNoiseAndMissingSamplesAreKept) {
  Known known([](int v) { return 1.0 + v; });
  known.fit.states[7] = VoxelState::constant;
  const float before = known.series.at(2, 7);
  known.fit.states[9] = VoxelState::partial;
  known.series.at(2, 9) = std::numeric_limits<float>::quiet_NaN();
  replace_by_expectations(known.series.samples(), known.fit, known.components.samples());
  EXPECT_EQ(known.series.at(2, 7), before);
  EXPECT_TRUE(std::isnan(known.series.at(2, 9)));
  EXPECT_FALSE(std::isnan(known.series.at(3, 9)));
}

}  // namespace
}  // namespace lull::series
