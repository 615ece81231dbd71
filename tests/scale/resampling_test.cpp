#include "scale/resampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <tuple>

#include "core/plane.h"

namespace lull::scale {
namespace {

double at(const Taps& taps, int i, const std::vector<double>& in) {
  double sum = 0;
  for (int k = 0; k < taps.count; ++k)
    sum += static_cast<double>(taps.weights[i * taps.count + k]) * in[taps.first[i] + k];
  return sum;
}

TEST(Resampling, KeepsConstantsInEverySize) {
  for (const int from : {1, 2, 3, 7, 40})
    for (const double ratio : {1.0, 1.25, 2.0, 3.7, 4.0})
      for (const double site : {0.25, 0.5}) {
        const int to = static_cast<int>(std::lround(from * ratio));
        const double exact = 1.0 * to / from;
        const Taps up = enlarging_taps(from, to, exact, site);
        const Taps down = reducing_taps(from, to, exact, site);
        const std::vector<double> small(from, 100.0), large(to, 100.0);
        for (int i = 0; i < to; ++i) {
          EXPECT_NEAR(at(up, i, small), 100, 1e-3) << from << " to " << to;
          EXPECT_GE(up.first[i], 0);
          EXPECT_LE(up.first[i] + up.count, from);
        }
        for (int i = 0; i < from; ++i) {
          EXPECT_NEAR(at(down, i, large), 100, 1e-3) << to << " to " << from;
          EXPECT_LE(down.first[i] + down.count, to);
        }
      }
}

TEST(Resampling, IsTheIdentityForEqualSizes) {
  const Taps taps = enlarging_taps(20, 20, 1, 0.5);
  std::vector<double> in(20);
  std::iota(in.begin(), in.end(), 3);
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(at(taps, i, in), in[i], 1e-5);
}

TEST(Resampling, RespectsTheSamplePositions) {
  // A slope that rises by 1 per sample of the large plane reveals the position.
  for (const double site : {0.25, 0.5, 0.75})
    for (const double ratio : {1.5, 2.0, 3.0}) {
      const int from = 40, to = static_cast<int>(from * ratio);
      std::vector<double> small(from), large(to);
      for (int i = 0; i < from; ++i) small[i] = (i + site) * ratio;
      for (int i = 0; i < to; ++i) large[i] = i + site;
      const Taps up = enlarging_taps(from, to, ratio, site);
      const Taps down = reducing_taps(from, to, ratio, site);
      for (int i = 12; i < to - 12; ++i) EXPECT_NEAR(at(up, i, small), large[i], 0.02 * ratio);
      for (int i = 3; i < from - 3; ++i) EXPECT_NEAR(at(down, i, large), small[i], 0.1);
    }
}

TEST(Resampling, ReductionAveragesAreas) {
  const Taps down = reducing_taps(4, 6, 1.5, 0.5);
  const std::vector<double> large{10, 20, 30, 40, 50, 60};
  EXPECT_NEAR(at(down, 0, large), (10 + 20 * 0.5) / 1.5, 1e-4);
  EXPECT_NEAR(at(down, 1, large), (20 * 0.5 + 30) / 1.5, 1e-4);
}

TEST(Resampling, ColumnsReplaceOrAccumulate) {
  Plane<float> from(8, 5), rows(16, 5), to(16, 10);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 8; ++x) from.view()(x, y) = static_cast<float>(7 + x * y % 5);
  resample_rows(enlarging_taps(8, 16, 2, 0.5), from.view(), rows.view());
  resample_columns(enlarging_taps(5, 10, 2, 0.5), rows.view(), to.view());
  const float once = to.view()(9, 4);
  EXPECT_GT(once, 5);
  resample_columns(enlarging_taps(5, 10, 2, 0.5), rows.view(), to.view(), Write::accumulate);
  EXPECT_NEAR(to.view()(9, 4), 2 * once, 1e-4);
}

}  // namespace
}  // namespace lull::scale
