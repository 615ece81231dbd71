#include "series/filter/middle_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/frame_pool.h"
#include "series/components.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr Shape shape{.width = 32, .height = 28, .slices = 24, .volumes = 12};

/// Returns the levels that the class finds for a series with Rician noise of level(volume). The
/// estimates from single volumes are `given`.
template <class Level>
SeriesNoise levels_of(const Shape& of, const Level& level, float given) {
  TestSeries series(of);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return std::hypot(test::three_components(v, x, y, z) + level(v) * normal(),
                      level(v) * normal());
  });
  MiddleSlices middle(of);
  FramePool pool(component_format(of));
  for (int i = 0; i < of.slices * of.volumes; ++i) {
    Frame slice = pool.acquire();
    slice.pts = i;
    for (int y = 0; y < of.height; ++y)
      std::copy_n(&series.values[i * of.slice_voxels() + y * of.width], of.width,
                  slice.plane<float>(0).row(y));
    middle.add(slice);
  }
  SeriesNoise noise = test::gaussian(of.volumes, given);
  noise.kind = NoiseKind::rician;
  return middle.with_cube_levels(noise);
}

TEST(MiddleSlices, FindsTheRicianLevelOfEachVolume) {
  const auto level = [](int v) { return v % 3 == 1 ? 36.0 : 20.0; };
  const SeriesNoise found = levels_of(shape, level, 24);
  ASSERT_EQ(found.levels.size(), 12u);
  for (int v = 0; v < shape.volumes; ++v)
    EXPECT_NEAR(found.levels[v], level(v), 0.08 * level(v)) << v;
}

TEST(MiddleSlices, EqualLevelsKeepTheEstimate) {
  const SeriesNoise found = levels_of(
      shape, [](int) { return 20.0; }, 24);
  EXPECT_EQ(found.levels, std::vector<float>(shape.volumes, 24));
}

TEST(MiddleSlices, TooManyVolumesForTheMemoryKeepTheEstimate) {
  // Only the size of the series matters, so the test adds no slices.
  MiddleSlices middle({.width = 512, .height = 512, .slices = 60, .volumes = 400});
  const SeriesNoise noise = test::gaussian(400, 7);
  EXPECT_EQ(middle.with_cube_levels(noise).levels, noise.levels);
}

}  // namespace
}  // namespace lull::series
