#include "core/float_guard.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/pictures.h"

namespace lull {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr FrameFormat format{
    .width = 60, .height = 50, .sample = SampleType::f32, .bits = 32, .white = 2};

Frame gradient() {
  Frame frame = test_support::make_frame(format);
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x)
      frame.plane<float>(0)(x, y) = 2 * (0.2f + 0.01f * static_cast<float>(x));
  return frame;
}

/// Returns the plane that a filter gets, on the scale of 0 to 1.
Plane<float> guarded(const Frame& frame, float sigma = 10) {
  Plane<float> plane = test_support::plane_of(frame, 0);
  guard_plane(frame, 0, sigma, plane.view());
  for (int y = 0; y < plane.height(); ++y)
    for (int x = 0; x < plane.width(); ++x) plane.view()(x, y) /= 255;
  return plane;
}

TEST(FloatGuard, KeepsSamplesInRange) {
  const Frame frame = gradient();
  frame.plane<float>(0)(3, 4) = 2 * 1.5f;
  frame.plane<float>(0)(4, 4) = 2 * -0.49f;
  Plane<float> plane = test_support::plane_of(frame, 0);
  EXPECT_FALSE(guard_plane(frame, 0, 10, plane.view()));
  EXPECT_EQ(plane.view()(3, 4), 1.5f * 255);
  EXPECT_EQ(plane.view()(4, 4), -0.49f * 255);
}

TEST(FloatGuard, SingleSamplesAreReplacedBySurroundings) {
  for (const float value : {500.0f, -40.0f, infinity, -infinity, std::nanf("")})
    for (const auto& [x, y] : {std::pair{20, 30}, {0, 0}, {59, 49}, {59, 0}, {0, 25}}) {
      const Frame frame = gradient();
      frame.plane<float>(0)(x, y) = value;
      const Plane<float> plane = guarded(frame);
      EXPECT_NEAR(plane.view()(x, y), 0.2f + 0.01f * x, 0.011f) << value << " at " << x;
      EXPECT_FLOAT_EQ(plane.view()(x == 0 ? 1 : x - 1, y), 0.2f + 0.01f * (x == 0 ? 1 : x - 1));
    }
}

// Inside an area, where no patch can contain both this position and a sample outside the area, the
// replacement is the bound, which resembles no content.
TEST(FloatGuard, AreasAreReplacedByNoiseNearTheirEdgeAndByTheBoundInside) {
  const float sigma = 10;
  const Frame frame = gradient();
  for (int y = 0; y < format.height; ++y)
    for (int x = 8; x < format.width; ++x) frame.plane<float>(0)(x, y) = 50;
  const Plane<float> plane = guarded(frame, sigma);
  double sum = 0, squares = 0, count = 0;
  for (int y = 0; y < format.height; ++y)
    for (int x = 10; x < 16; ++x, ++count) {
      const double d = 255 * plane.view()(x, y);
      sum += d, squares += d * d;
    }
  EXPECT_NEAR(sum / count / 255, 0.235, 0.01);  // the mean of columns 0 to 7
  EXPECT_NEAR(std::sqrt(squares / count - sum / count * sum / count), sigma, 0.15 * sigma);
  for (int y = 0; y < format.height; ++y)
    for (int x = 16; x < format.width; ++x) ASSERT_EQ(plane.view()(x, y) * 255, filter_range_max);
}

TEST(FloatGuard, RestoresOutOfRangeSamplesInResults) {
  const Frame frame = gradient(), filtered = test_support::make_frame(format);
  const float odd_nan = std::bit_cast<float>(0xffc12345u);
  const float end = 2 * filter_range_max / 255, slightly = end + 0.1f;  // within 4 sigma
  frame.plane<float>(0)(1, 1) = odd_nan;
  frame.plane<float>(0)(2, 1) = infinity;
  frame.plane<float>(0)(3, 1) = -7;
  frame.plane<float>(0)(4, 1) = slightly;
  for (int y = 0; y < format.height; ++y)
    std::fill_n(filtered.plane<float>(0).row(y), format.width, 0.75f);
  restore_plane(frame, 0, 10, filtered);
  const PlaneView<float> result = filtered.plane<float>(0);
  EXPECT_EQ(result(0, 1), 0.75f);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(result(1, 1)), 0xffc12345u);
  EXPECT_EQ(result(2, 1), infinity);
  EXPECT_EQ(result(3, 1), -7);
  EXPECT_NEAR(result(4, 1), 0.85f, 1e-5f);
}

// Constant replacements would look like a still picture and match too well.
TEST(FloatGuard, ReplacementsChangeWithTheSurroundingNoise) {
  const auto disc = [](unsigned seed) {
    const Frame frame = test_support::make_frame(format);
    store_plane(
        test_support::with_noise(test_support::plane_of(gradient(), 0).view(), 10, seed).view(),
        frame, 0);
    for (int y = 20; y < 35; ++y) std::fill_n(frame.plane<float>(0).row(y) + 20, 15, 90.0f);
    return guarded(frame);
  };
  const Plane<float> a = disc(1), again = disc(1), b = disc(2);
  int equal = 0;
  for (int y = 24; y < 30; ++y)
    for (int x = 24; x < 30; ++x) {
      EXPECT_EQ(a.view()(x, y), again.view()(x, y));
      equal += a.view()(x, y) == b.view()(x, y) ? 1 : 0;
    }
  EXPECT_LT(equal, 6);
}

}  // namespace
}  // namespace lull
