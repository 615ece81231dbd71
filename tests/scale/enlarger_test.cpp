#include "scale/enlarger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/plane.h"
#include "core/samples.h"
#include "scale/resampling.h"
#include "support/pictures.h"

namespace lull::scale {
namespace {

using namespace lull::test_support;
using bm3d::Backend;
using bm3d::BackendKind;

constexpr Backend cpu{.kind = BackendKind::cpu, .threads = 2};

/// Returns a picture of rings and slanted stripes with sharp edges. Each sample is the mean of 8x8
/// positions in its area.
Plane<float> sharp_picture(int width, int height) {
  Plane<float> picture(width, height);
  const auto light = [&](double x, double y) {
    const double ring = std::hypot(x - 0.4 * width, y - 0.5 * height) / 11;
    const double stripe = (0.8 * x + 0.35 * y) / 13;
    const double place = x < 0.75 * width ? ring : stripe;
    return place - std::floor(place) < 0.5 ? 60.0 : 190.0;
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int k = 0; k < 64; ++k) sum += light(x + (k % 8 + 0.5) / 8, y + (k / 8 + 0.5) / 8);
      picture.view()(x, y) = static_cast<float>(sum / 64);
    }
  return picture;
}

/// Returns the picture at half the size. Each sample is the mean of two by two samples.
Plane<float> halved(PlaneView<const float> picture) {
  Plane<float> half(picture.width / 2, picture.height / 2);
  for (int y = 0; y < half.height(); ++y)
    for (int x = 0; x < half.width(); ++x)
      half.view()(x, y) = (picture(2 * x, 2 * y) + picture(2 * x + 1, 2 * y) +
                           picture(2 * x, 2 * y + 1) + picture(2 * x + 1, 2 * y + 1)) /
                          4;
  return half;
}

double error_of(PlaneView<const float> a, PlaneView<const float> b) {
  double sum = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) sum += std::pow(a(x, y) - b(x, y), 2);
  return sum / (1.0 * a.width * a.height);
}

Plane<float> plane_of(const Frame& frame, int i) {
  Plane<float> plane(frame.format.plane_width(i), frame.format.plane_height(i));
  load_plane(frame, i, plane.view());
  return plane;
}

PlaneView<const float> read(const Plane<float>& plane) { return plane.view(); }

constexpr FrameFormat floats(int width, int height) {
  return {.width = width, .height = height, .sample = SampleType::f32, .bits = 32, .white = 255};
}

TEST(Enlarger, BeatsLanczosOnEveryBackend) {
  const Plane<float> clean = sharp_picture(128, 112);
  const Plane<float> half = halved(read(clean));
  Plane<float> between(128, 56), lanczos(128, 112);
  resample_rows(enlarging_taps(64, 128, 2, 0.5), read(half), between.view());
  resample_columns(enlarging_taps(56, 112, 2, 0.5), read(between), lanczos.view());
  const double by_lanczos = error_of(read(lanczos), read(clean));
  Frame small = make_frame(floats(64, 56));
  store_plane(read(half), small, 0);

  std::vector<Plane<float>> results;
  for (const Backend& backend : {Backend{.kind = BackendKind::reference}, cpu}) {
    Enlarger enlarger({.factor = 2}, small.format, backend);
    results.push_back(plane_of(enlarger.enlarged(small), 0));
    const double gain = 10 * std::log10(by_lanczos / error_of(read(results.back()), read(clean)));
    EXPECT_GT(gain, 1.2) << "dB over Lanczos";
    // The result keeps the means of the original areas.
    EXPECT_LT(error_of(read(halved(read(results.back()))), read(half)), 0.6);
  }
  EXPECT_LT(error_of(read(results[0]), read(results[1])), 1.0);
}

TEST(Enlarger, ThreadCountDoesNotChangeResult) {
  const Plane<float> picture = halved(read(sharp_picture(90, 70)));
  Frame small = make_frame({.width = 45, .height = 35});
  store_plane(read(picture), small, 0);
  std::vector<Frame> results;
  for (const int threads : {1, 2, 1})
    results.push_back(
        Enlarger({.factor = 1.7}, small.format, {.kind = BackendKind::cpu, .threads = threads})
            .enlarged(small));
  for (int y = 0; y < results[0].format.height; ++y)
    for (int x = 0; x < results[0].format.width; ++x) {
      ASSERT_EQ(results[0].planes[0](x, y), results[1].planes[0](x, y));
      ASSERT_EQ(results[0].planes[0](x, y), results[2].planes[0](x, y));
    }
}

TEST(Enlarger, EnlargesEveryFormat) {
  for (const FrameFormat& format : {FrameFormat{.width = 33, .height = 25},
                                    FrameFormat{.width = 34,
                                    .height = 26,
                                    .layout = Layout::yuv,
                                    .chroma_shift_x = 1,
                                    .chroma_shift_y = 1},
                                    FrameFormat{.width = 33,
                                    .height = 25,
                                    .layout = Layout::yuv,
                                    .sample = SampleType::u16,
                                    .bits = 10,
                                    .chroma_shift_x = 1},
                                    FrameFormat{.width = 33,
                                    .height = 25,
                                    .layout = Layout::rgb,
                                    .sample = SampleType::u16,
                                    .bits = 16},
                                    FrameFormat{.width = 33,
                                    .height = 25,
                                    .layout = Layout::rgb,
                                    .sample = SampleType::f32,
                                    .bits = 32},
                                    FrameFormat{.width = 5, .height = 1, .layout = Layout::rgb}})
    for (const double factor : {1.0, 1.5, 3.0}) {
      // A single colour, which must be preserved.
      Frame small = make_frame(format);
      for (int i = 0; i < format.planes(); ++i) {
        Plane<float> plane(format.plane_width(i), format.plane_height(i));
        for (int y = 0; y < plane.height(); ++y)
          for (int x = 0; x < plane.width(); ++x)
            plane.view()(x, y) = static_cast<float>(90 + 40 * i);
        store_plane(read(plane), small, i);
      }
      small.pts = 7;
      Enlarger enlarger({.factor = factor, .profile = bm3d::Profile::fast, .site = {0.25, 0.5}},
                        format, cpu);
      const Frame large = enlarger.enlarged(small);
      EXPECT_EQ(large.format, scaled_format(format, factor));
      EXPECT_EQ(large.pts, 7);
      for (int i = 0; i < format.planes(); ++i) {
        const Plane<float> plane = plane_of(large, i);
        for (int y = 0; y < plane.height(); ++y)
          for (int x = 0; x < plane.width(); ++x)
            ASSERT_NEAR(plane.view()(x, y), 90 + 40 * i, 0.51) << factor << ", plane " << i;
      }
    }
}

TEST(Enlarger, RoundsSizesToCompleteChromaSamples) {
  const FrameFormat yuv{
      .width = 66, .height = 50, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
  const FrameFormat larger = scaled_format(yuv, 1.5);
  EXPECT_EQ(larger.width, 100);  // not 99
  EXPECT_EQ(larger.height, 76);  // not 75
  EXPECT_EQ(scaled_format({.width = 33, .height = 25}, 1.5).width, 50);
  EXPECT_EQ(scaled_format(yuv, 1), yuv);
}

TEST(Enlarger, KeepsTheChromaLocation) {
  // An edge at the same position in luma and chroma; chroma is located at the first luma sample of
  // each pair.
  const FrameFormat yuv{.width = 64,
                        .height = 32,
                        .layout = Layout::yuv,
                        .sample = SampleType::u16,
                        .bits = 16,
                        .chroma_shift_x = 1,
                        .chroma_shift_y = 1};
  Frame small = make_frame(yuv);
  for (int i = 0; i < 3; ++i) {
    Plane<float> plane(yuv.plane_width(i), yuv.plane_height(i));
    for (int y = 0; y < plane.height(); ++y)
      for (int x = 0; x < plane.width(); ++x)  // a slope over the position in luma samples
        plane.view()(x, y) =
            static_cast<float>(i == 0 ? 20 + 3 * (x + 0.5) : 20 + 3 * (2 * x + 0.5));
    store_plane(read(plane), small, i);
  }
  Enlarger enlarger({.factor = 2, .profile = bm3d::Profile::fast, .site = {0.25, 0.5}}, yuv, cpu);
  const Frame large = enlarger.enlarged(small);
  const Plane<float> chroma = plane_of(large, 1);
  for (int x = 10; x < 54; ++x)
    EXPECT_NEAR(chroma.view()(x, 16), 20 + 3 * (2 * x + 0.5) / 2, 0.2) << x;
}

TEST(Enlarger, IgnoresNanSamples) {
  Frame small = make_frame(floats(24, 24));
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 24; ++x) small.plane<float>(0)(x, y) = 100;
  small.plane<float>(0)(3, 3) = std::numeric_limits<float>::quiet_NaN();
  small.plane<float>(0)(20, 4) = std::numeric_limits<float>::infinity();
  Enlarger enlarger({.factor = 2}, small.format, cpu);
  const Frame large = enlarger.enlarged(small);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 48; ++x) ASSERT_TRUE(std::isfinite(large.plane<float>(0)(x, y)));
  EXPECT_NEAR(large.plane<float>(0)(24, 40), 100, 0.5);
}

TEST(Enlarger, RejectsFactorsOutOfRange) {
  for (const double factor : {0.99, 4.01, 0.0, -1.0, std::nan("")}) {
    EXPECT_THROW((void)scaled_format({.width = 8, .height = 8}, factor), InvalidArgument) << factor;
  }
}

TEST(Enlarger, RejectsInvalidFormats) {
  for (const int shift : {-1, 32})
    EXPECT_THROW((void)scaled_format(
                     {.width = 8, .height = 8, .layout = Layout::yuv, .chroma_shift_x = shift}, 2),
                 InvalidArgument);
}

}  // namespace
}  // namespace lull::scale
