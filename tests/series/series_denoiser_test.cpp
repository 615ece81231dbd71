#include "series/series_denoiser.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/frame_pool.h"
#include "series/components.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::TestSeries;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr Shape shape{.width = 20, .height = 18, .slices = 12, .volumes = 10};

FrameFormat format_of(float white) {
  FrameFormat format{.width = shape.width, .height = shape.height};
  format.sample = SampleType::f32;
  format.bits = 32;
  format.white = white;
  return format;
}

/// The slice of the series with this number, with the samples that a source returns.
Frame slice_of(TestSeries& series, std::int64_t number, float white) {
  FramePool pool(format_of(white));
  Frame slice = pool.acquire();
  slice.pts = number;
  slice.slice = static_cast<int>(number % shape.slices);
  const float* from = series.values.data() + number * shape.slice_voxels();
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) slice.plane<float>(0)(x, y) = *from++ / 255 * white;
  return slice;
}

/// A session with all components, unfiltered.
std::unique_ptr<Denoiser> unfiltered(TestSeries series, const SeriesNoise& noise, float white,
                                     float least = -1e9f) {
  auto filtered = std::make_shared<FilteredSeries>();
  filtered->fit = fit_series(series.samples(), noise, {.refine = false, .keep_all = true});
  auto memory = std::make_shared<TestSeries>(std::move(series));
  project(memory->samples(), filtered->fit, components_in_place(memory->samples(), filtered->fit));
  filtered->components = components_in_place(memory->samples(), filtered->fit);
  filtered->volumes = shape.volumes;
  filtered->least = least;
  filtered->memory = memory;
  return open_series(filtered, format_of(white));
}

TestSeries noisy_series() {
  TestSeries series(shape);
  test::Normal normal;
  series.fill([&](int v, int x, int y, int z) {
    return test::three_components(v, x, y, z) + 4 * normal();
  });
  return series;
}

TEST(SeriesDenoiser, AllComponentsReturnTheSeriesInAnyOrder) {
  for (const float white : {1.0f, 255.0f}) {
    TestSeries series = noisy_series();
    SeriesNoise noise = test::gaussian(shape.volumes, 4);
    noise.levels[2] = 8;
    const auto session = unfiltered(series, noise, white);
    EXPECT_EQ(session->latency(), 0);
    for (const std::int64_t number : {115, 0, 31, 30}) {
      const Frame noisy = slice_of(series, number, white);
      const auto clean = session->push(noisy);
      ASSERT_TRUE(clean);
      EXPECT_EQ(clean->pts, number);
      for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
          EXPECT_NEAR(clean->plane<float>(0)(x, y), noisy.plane<float>(0)(x, y),
                      2e-6 * white * 255);
    }
    EXPECT_FALSE(session->drain());
  }
}

TEST(SeriesDenoiser, SamplesWithoutNoiseKeepTheirBits) {
  TestSeries series = noisy_series();
  for (int v = 0; v < shape.volumes; ++v) series.at(v, 3) = 0.1f;
  series.at(4, 5) = nan;
  for (std::size_t i = 0; i < shape.voxels(); ++i) series.at(6, i) = 0.3f;
  SeriesNoise noise = test::gaussian(shape.volumes, 4);
  noise.levels[6] = 0;
  const auto session = unfiltered(series, noise, 1);
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  const Frame noisy = slice_of(series, 4 * shape.slices, 1);
  const auto clean = session->push(noisy);
  EXPECT_EQ(bits(clean->plane<float>(0)(3, 0)), bits(noisy.plane<float>(0)(3, 0)));
  EXPECT_TRUE(std::isnan(clean->plane<float>(0)(5, 0)));
  EXPECT_FALSE(std::isnan(session->push(slice_of(series, 0, 1))->plane<float>(0)(5, 0)));
  const Frame whole = slice_of(series, 6 * shape.slices + 2, 1);
  const auto same = session->push(whole);
  for (int x = 0; x < shape.width; ++x)
    EXPECT_EQ(bits(same->plane<float>(0)(x, 9)), bits(whole.plane<float>(0)(x, 9)));
}

TEST(SeriesDenoiser, ResultsAreNotBelowTheirBound) {
  TestSeries series = noisy_series();
  const auto session = unfiltered(series, test::gaussian(shape.volumes, 4), 255, 120);
  const auto clean = session->push(slice_of(series, 40, 255));
  float lowest = 1e9f, highest = 0;
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      lowest = std::min(lowest, clean->plane<float>(0)(x, y));
      highest = std::max(highest, clean->plane<float>(0)(x, y));
    }
  EXPECT_EQ(lowest, 120);
  EXPECT_GT(highest, 130);
}

TEST(SeriesDenoiser, RejectsOtherFrames) {
  TestSeries series = noisy_series();
  const auto session = unfiltered(series, test::gaussian(shape.volumes, 4), 255);
  Frame late = slice_of(series, 0, 255);
  late.pts = static_cast<std::int64_t>(shape.slices) * shape.volumes;
  EXPECT_THROW((void)session->push(late), InternalError);
  auto other = std::make_shared<FilteredSeries>();
  other->components.shape = {shape.width + 1, shape.height, shape.slices, 1};
  EXPECT_THROW((void)open_series(other, format_of(255)), InvalidArgument);
}

}  // namespace
}  // namespace lull::series
