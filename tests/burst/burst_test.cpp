#include "burst/burst.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "bm3d/bm3d.h"
#include "burst/affine_warp.h"
#include "burst/alignment.h"
#include "support/pictures.h"

namespace lull::burst {
namespace {

using namespace lull::test_support;

/// Brightness of a scene with content everywhere: waves in every direction, which are weaker the
/// finer they are, and a disc.
double brightness(double x, double y) {
  double v = 120 + 40 / (1 + std::exp((std::hypot(x - 12, y + 9) - 30) * 1.2));
  for (int i = 0; i < 24; ++i) {
    const double fineness = 0.12 + 0.07 * i, direction = 2.4 * i;
    v += 10 / (0.4 + fineness) *
         std::sin(fineness * (x * std::cos(direction) + y * std::sin(direction)) + 1.7 * i);
  }
  return v;
}

constexpr double degree = 3.14159265358979 / 180;

/// Returns the picture of a camera that is displaced, rotated and nearer to the scene. The
/// alignment `s` maps the reference frame, which shows brightness() itself, to this picture.
Plane<float> render_view(int width, int height, const Alignment& s) {
  Plane<float> picture(width, height);
  const double square = s.a * s.a + s.b * s.b;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double u = x + 0.5 - 0.5 * width - s.move_x, v = y + 0.5 - 0.5 * height - s.move_y;
      picture.view()(x, y) = static_cast<float>(
          brightness((s.a * u + s.b * v) / square, (s.a * v - s.b * u) / square));
    }
  return picture;
}

Alignment make_alignment(double degrees, double scale, double x, double y) {
  return {scale * std::cos(degrees * degree), scale * std::sin(degrees * degree), x, y};
}

PlaneView<const float> read(const Plane<float>& plane) { return plane.view(); }

/// Returns the maximum distance between the positions to which two alignments map a corner.
double max_corner_distance(const Alignment& s, const Alignment& t, int width, int height) {
  double most = 0;
  for (const double x : {-0.5 * width, 0.5 * width})
    for (const double y : {-0.5 * height, 0.5 * height})
      most = std::max(most, std::hypot((s.a - t.a) * x - (s.b - t.b) * y + s.move_x - t.move_x,
                                       (s.b - t.b) * x + (s.a - t.a) * y + s.move_y - t.move_y));
  return most;
}

TEST(Alignment, HasSubsampleAccuracyInNoise) {
  const int width = 231, height = 173;
  const Pyramid kept(read(with_noise(render_view(width, height, {}).view(), 25, 1)));
  for (const Alignment& truth :
       {Alignment{}, make_alignment(0.5, 1, 7.3, -4.6), make_alignment(-0.5, 1, -31.4, 22.8),
        make_alignment(2, 1.01, 5.5, 5.25), make_alignment(0, 0.99, 0.5, 0.5),
        make_alignment(-1.3, 1, 55, 30)}) {
    const Pyramid other(read(with_noise(render_view(width, height, truth).view(), 25, 2)));
    EXPECT_LT(max_corner_distance(find_alignment(kept, other), truth, width, height), 0.25)
        << truth.move_x << ", " << truth.move_y << ", " << truth.b / degree;
  }
}

TEST(Alignment, IsIdentityForPicturesWithoutContent) {
  Plane<float> flat(90, 70);
  for (int y = 0; y < 70; ++y)
    for (int x = 0; x < 90; ++x) flat.view()(x, y) = 100;
  EXPECT_LT(
      max_corner_distance(find_alignment(Pyramid(read(flat)), Pyramid(read(flat))), {}, 90, 70),
      1e-6);
  const Plane<float> small = render_view(3, 2, {});
  EXPECT_TRUE(std::isfinite(find_alignment(Pyramid(read(small)), Pyramid(read(small))).move_x));
}

TEST(Warp, AlignsAPictureToAnother) {
  const int width = 160, height = 120;
  const Alignment truth = make_alignment(1.2, 1.01, 6.3, -3.8);
  const Plane<float> kept = render_view(width, height, {}),
                     other = render_view(width, height, truth);
  Plane<float> between(width, height), result(width, height);
  warp(read(other), AffineWarp(truth, 1, 1), between.view(), result.view());
  double worst = 0;
  for (int y = 20; y < height - 20; ++y)
    for (int x = 20; x < width - 20; ++x)
      worst = std::max(worst, std::abs(1.0 * result.view()(x, y) - kept.view()(x, y)));
  EXPECT_LT(worst, 3);
  warp(read(other), AffineWarp({}, 1, 1), between.view(), result.view());
  EXPECT_GT(psnr(read(result), read(other)), 90) << "an identity warp must copy the samples";
}

/// Returns the filtered reference frame of a burst.
Plane<float> filter_burst(const std::vector<Frame>& burst, int keep, bool align,
                          bm3d::BackendKind backend, int temporal) {
  const FrameFormat& format = burst.front().format;
  bm3d::Params params = bm3d::make_params(bm3d::Profile::fast, {25, 0, 0}, temporal);
  params.scene_cut = 0;
  auto session = bm3d::open(params, format, {.kind = backend, .threads = 2});
  if (align) session = aligned(std::move(session), format, 0, keep, 20);
  std::vector<Frame> results;
  const auto add = [&](std::optional<Frame> frame) {
    for (; frame; frame = session->next()) results.push_back(*std::move(frame));
  };
  for (const Frame& frame : burst) add(session->push(frame));
  while (auto frame = session->drain()) results.push_back(*std::move(frame));
  EXPECT_EQ(results.size(), burst.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i].pts, static_cast<std::int64_t>(i));
  Plane<float> plane(format.width, format.height);
  load_plane(results.at(keep), 0, plane.view());
  return plane;
}

TEST(Burst, HandHeldBurstBeatsOneFrameAndMotionAlone) {
  const int width = 144, height = 112, frames = 6, keep = 3;
  const FrameFormat format{
      .width = width, .height = height, .sample = SampleType::f32, .bits = 32, .white = 255};
  std::vector<Frame> burst;
  for (int i = 0; i < frames; ++i) {
    const Alignment hand = i == keep
                               ? Alignment{}
                               : make_alignment(0.5 * (i % 3 - 1), 1, 9.4 * i - 25, 11.7 - 7.3 * i);
    burst.push_back(make_frame(format));
    burst.back().pts = i;
    store_plane(read(with_noise(render_view(width, height, hand).view(), 25, 10 + i)), burst.back(),
                0);
  }
  const Plane<float> clean = render_view(width, height, {});
  const auto quality = [&](bool align, int temporal) {
    return psnr(read(filter_burst(burst, keep, align, bm3d::BackendKind::cpu, temporal)),
                read(clean));
  };
  const double one = quality(false, 0), motion = quality(false, 3), by_hand = quality(true, 3);
  EXPECT_GT(by_hand, one + 2.5);
  EXPECT_GT(by_hand, motion + 0.3);
  // A burst may consist of two frames with the second one as reference frame.
  burst.resize(2);
  (void)filter_burst(burst, 1, true, bm3d::BackendKind::reference, 1);
}

TEST(Burst, AcceptsColourOfEverySizeAndNan) {
  for (const FrameFormat& format : {FrameFormat{.width = 65,
                                   .height = 49,
                                   .layout = Layout::yuv,
                                   .chroma_shift_x = 1,
                                   .chroma_shift_y = 1},
                                    FrameFormat{.width = 64,
                                    .height = 49,
                                    .layout = Layout::yuv,
                                    .sample = SampleType::u16,
                                    .bits = 10,
                                    .chroma_shift_x = 1},
                                    FrameFormat{.width = 50,
                                    .height = 40,
                                    .layout = Layout::rgb,
                                    .sample = SampleType::f32,
                                    .bits = 32,
                                    .white = 255}}) {
    const Alignment hand = make_alignment(1, 1, 4, -3);
    std::vector<Frame> burst{make_frame(format), make_frame(format)};
    for (int i = 0; i < format.planes(); ++i) {
      const double wide = 1.0 * format.width / format.plane_width(i);
      const double high = 1.0 * format.height / format.plane_height(i);
      for (Frame& frame : burst) {  // the same change in all planes, at corresponding positions
        const Plane<float> whole =
            render_view(format.width, format.height, &frame == &burst[0] ? Alignment{} : hand);
        Plane<float> plane(format.plane_width(i), format.plane_height(i));
        for (int y = 0; y < plane.height(); ++y)
          for (int x = 0; x < plane.width(); ++x)
            plane.view()(x, y) =
                whole.view()(static_cast<int>(x * wide), static_cast<int>(y * high));
        store_plane(read(plane), frame, i);
      }
    }
    if (format.sample == SampleType::f32)
      burst[1].plane<float>(0)(3, 3) = std::numeric_limits<float>::quiet_NaN();
    bm3d::Params params = bm3d::make_params(bm3d::Profile::fast, {0, 0, 0}, 0);
    auto session = aligned(bm3d::open(params, format, {}), format, 0, 0, 4);
    std::vector<Frame> results;
    for (const Frame& frame : burst)
      for (auto ready = session->push(frame); ready; ready = session->next())
        results.push_back(*std::move(ready));
    while (auto frame = session->drain()) results.push_back(*std::move(frame));
    ASSERT_EQ(results.size(), 2u);
    for (int i = 0; i < format.planes(); ++i) {
      Plane<float> a(format.plane_width(i), format.plane_height(i));
      Plane<float> b(format.plane_width(i), format.plane_height(i));
      load_plane(results[0], i, a.view());
      load_plane(results[1], i, b.view());
      double sum = 0;
      int count = 0;
      for (int y = 8; y < a.height() - 8; ++y)
        for (int x = 8; x < a.width() - 8; ++x, ++count)
          sum += std::abs(a.view()(x, y) - b.view()(x, y));
      EXPECT_LT(sum / count, i == 0 ? 2.0 : 6.0) << "plane " << i;
    }
  }
}

}  // namespace
}  // namespace lull::burst
