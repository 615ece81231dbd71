// Tests the quality of the profiles on synthetic pictures, with a tolerance of 0.02 dB. The tests
// detect a changed parameter, which tests that compare backends with each other cannot detect.
// Results of different instruction sets differ by less than the tolerance.

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "bm3d/bm3d.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr int width = 176, height = 144;

/// Returns a picture with the properties of footage: edges in all directions, detail of several
/// scales, few flat areas.
Plane<float> scene(int n, int plane) {
  Plane<float> picture(width, height);
  const Plane<float> texture = texture_picture(width + 40, height + 40, 0.7 * plane);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int u = x + 3 * n, v = y + n;
      double sample = texture.view()(u, v);
      const double wave = std::sin(0.02 * u * u / (10 + 0.05 * v) + plane);
      if (v % 48 > 20) sample = 110 + 30 * wave + 0.3 * (sample - 120);
      sample += 12 * std::sin(0.9 * u + 0.35 * v) * (u / 24 % 3 == 0);
      picture.view()(x, y) = static_cast<float>(std::clamp(sample, 0.0, 255.0));
    }
  return picture;
}

std::vector<Plane<float>> clean(const FrameFormat& format, int n) {
  std::vector<Plane<float>> planes;
  for (int i = 0; i < format.planes(); ++i) planes.push_back(scene(n, i));
  return planes;
}

Frame noisy(const FrameFormat& format, int n, float sigma) {
  Frame frame = make_frame(format);
  const auto planes = clean(format, n);
  for (int i = 0; i < format.planes(); ++i)
    store_plane(with_noise(planes[i].view(), sigma, 100 * n + i + 1).view(), frame, i);
  frame.pts = n;
  return frame;
}

/// Returns the mean PSNR of the planes of the middle frame.
double quality(Profile profile, Layout layout, float sigma, int temporal) {
  const FrameFormat format{.width = width, .height = height, .layout = layout};
  const int count = temporal > 0 ? 2 * temporal + 1 : 1;
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) frames.push_back(noisy(format, n, sigma));
  Params params = make_params(profile, {sigma, sigma, sigma}, temporal);
  const auto session = open(params, format, Backend{.kind = BackendKind::cpu});
  const std::vector<Frame> out = run_clip(*session, frames);
  const auto truth = clean(format, count / 2);
  double sum = 0;
  for (int i = 0; i < format.planes(); ++i)
    sum += psnr(plane_of(out.at(count / 2), i).view(), truth[i].view());
  return sum / format.planes();
}

struct Pinned {
  Profile profile;
  Layout layout;
  float sigma;
  int temporal;
  double decibels;  // as measured
};
constexpr Pinned pinned[] = {
    {Profile::fast, Layout::gray, 20, 0, 31.67},
    {Profile::fast, Layout::gray, 20, 2, 34.57},
    {Profile::fast, Layout::rgb, 20, 0, 33.20},
    {Profile::fast, Layout::rgb, 20, 2, 35.66},
    {Profile::balanced, Layout::gray, 20, 0, 32.02},
    {Profile::balanced, Layout::gray, 20, 2, 34.85},
    {Profile::balanced, Layout::rgb, 20, 0, 33.58},
    {Profile::balanced, Layout::rgb, 20, 2, 36.10},
    {Profile::high, Layout::gray, 50, 0, 27.32},
    {Profile::high, Layout::gray, 20, 2, 35.11},
    {Profile::high, Layout::rgb, 50, 0, 28.47},
    {Profile::high, Layout::rgb, 20, 2, 36.32},
    {Profile::best, Layout::gray, 20, 2, 35.54},
    {Profile::paper, Layout::gray, 20, 0, 32.61},
    {Profile::paper, Layout::gray, 20, 2, 34.23},
    {Profile::paper, Layout::rgb, 20, 0, 34.15},
    {Profile::paper, Layout::rgb, 20, 2, 35.75},
};

class ProfileQuality : public ::testing::TestWithParam<Pinned> {};

// The prefix contains `cpu`, so that the tests run with every instruction set.
INSTANTIATE_TEST_SUITE_P(cpu, ProfileQuality, ::testing::ValuesIn(pinned));

TEST_P(ProfileQuality, MatchesTheRecordedPsnr) {
  const Pinned& p = GetParam();
  const double decibels = quality(p.profile, p.layout, p.sigma, p.temporal);
  EXPECT_NEAR(decibels, p.decibels, 0.02)
      << "profile " << static_cast<int>(p.profile) << ", layout " << static_cast<int>(p.layout)
      << ", R = " << p.temporal << "; if it is better on real pictures too, write it down here";
}

}  // namespace
}  // namespace lull::bm3d
