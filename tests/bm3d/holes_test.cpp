// Tests frames with holes on every backend: patches that reach into a hole must never be
// candidates.

#include "noise/holes.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <cmath>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "match/cpu/matcher.h"
#include "match/reference/matcher.h"
#include "support/gpu.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr int width = 75, height = 58;
constexpr float sigma = 10;

std::vector<bool> some_holes(int shift = 0) {
  std::vector<bool> hole(std::size_t{width} * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int u = x + shift;
      const bool disc = (u - 30) * (u - 30) + (y - 20) * (y - 20) < 40;
      hole[static_cast<std::size_t>(y) * width + x] = disc || (u == 60 && y % 7 == 0) || x > 72;
    }
  return hole;
}

Plane<float> noisy_picture(int n = 0) {
  Plane<float> clean(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      clean.view()(x, y) = (x + 2 * y + n) % 50 < 25 ? 60.0f : 120.0f + static_cast<float>(x) / 4;
  return with_noise(std::as_const(clean).view(), static_cast<double>(sigma), n + 1);
}

/// `inside` is the value that fills the holes.
Frame frame_of(int n, float inside) {
  const Frame frame = make_frame(
      {.width = width, .height = height, .sample = SampleType::f32, .bits = 32, .white = 255});
  const Plane<float> noisy = noisy_picture(n);
  auto holes = std::make_shared<const Holes>(width, height, some_holes(n));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      frame.plane<float>(0)(x, y) = holes->at(x, y) ? inside : noisy.view()(x, y);
  Frame with = frame;
  with.holes = std::move(holes);
  return with;
}

Params test_params(int temporal) {
  Params params = make_depth_params(Profile::balanced, NoiseModel({sigma, sigma, sigma}), temporal);
  params.hard.window = params.wiener.window = 25;
  return params;
}

std::vector<Frame> run(const Params& params, const Backend& backend, int frames, float inside) {
  std::vector<Frame> noisy;
  for (int n = 0; n < frames; ++n) noisy.push_back(frame_of(n, inside));
  return run_clip(*open(params, noisy.front().format, backend), noisy);
}

double difference(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  double sum = 0, count = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    const Holes holes(width, height, some_holes(static_cast<int>(n)));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        if (holes.at(x, y)) continue;
        sum += std::pow(static_cast<double>(a[n].plane<float>(0)(x, y)) -
                            static_cast<double>(b[n].plane<float>(0)(x, y)),
                        2);
        ++count;
      }
  }
  return std::sqrt(sum / count);
}

void expect_no_member_with_a_hole(const Group& group, const Holes& holes, int x, int y) {
  EXPECT_EQ(group.members[0], pack_displacement(0, 0));
  for (int m = 1; m < group.count; ++m)
    EXPECT_FALSE(holes.any_in(x + displacement_x(group.members[m]),
                              y + displacement_y(group.members[m]), patch))
        << "reference at " << x << ", " << y;
}

TEST(MatchHoles, ReferenceMatcherExcludesThem) {
  const Plane<float> picture = noisy_picture();
  const Holes holes(width, height, some_holes());
  const FramePlane guide{0, {std::as_const(picture).view(), {}, &holes}};
  int several = 0;
  for (int y = 0; y + patch <= height; y += 5)
    for (int x = 0; x + patch <= width; x += 3) {
      const Group group = match({&guide, 1}, x, y, {.window = 25, .step = 3, .tau = 5000});
      expect_no_member_with_a_hole(group, holes, x, y);
      several += group.count == 16 ? 1 : 0;
    }
  EXPECT_GT(several, 100);
}

TEST(MatchHoles, CpuMatcherExcludesThem) {
  const Plane<float> picture = noisy_picture();
  const Holes holes(width, height, some_holes());
  for (const int step : {1, 2, 3, 5, 8}) {
    const GuideAt guide{0, {std::as_const(picture).view(), {}, &holes}};
    const auto matcher = cpu::make_exhaustive_matcher(1);
    const MatchParams params{.window = 25, .group = 16, .step = step, .tau = 5000};
    tbb::task_arena(1).execute([&] { matcher->begin({params, {&guide, 1}, sigma}); });
    const int columns =
        std::min(matcher->block_size(params, 20).columns, (width - patch) / step + 1);
    const cpu::Block block{0, 0, columns, 1};
    std::vector<Group> groups(columns);
    for (cpu::Block at = block; at.y + patch <= height; at.y += 7) {
      matcher->begin_block(at, 0);
      matcher->find(at, 0, 0, groups);
      for (int i = 0; i < columns; ++i)
        expect_no_member_with_a_hole(groups[i], holes, i * step, at.y);
    }
  }
}

TEST(Bm3dHoles, CpuMatchesTheReference) {
  for (const int temporal : {0, 1}) {
    const Params params = test_params(temporal);
    const int frames = temporal > 0 ? 3 : 1;
    const auto reference = run(params, {.kind = BackendKind::reference}, frames, 100);
    const auto cpu = run(params, {.kind = BackendKind::cpu, .threads = 1}, frames, 100);
    EXPECT_LT(difference(reference, cpu), 0.05 * sigma) << temporal;
  }
}

TEST(Bm3dHoles, FillValueHardlyAffectsOtherSamples) {
  const Params params = test_params(0);
  for (const BackendKind kind : {BackendKind::reference, BackendKind::cpu}) {
    const auto a = run(params, {.kind = kind, .threads = 1}, 1, 100);
    const auto b = run(params, {.kind = kind, .threads = 1}, 1, 101);
    // Reference patches that reach into a hole still form groups with other patches, so the value
    // that fills the holes has a small effect on these patches.
    EXPECT_LT(difference(a, b), 0.2);
  }
}

TEST(Bm3dHoles, AreRejectedInColourFrames) {
  EXPECT_THROW((void)open(test_params(0), {.width = width, .height = height, .layout = Layout::rgb},
                          Backend{}),
               InvalidArgument);
}

using CudaHoles = GpuTest;

TEST_F(CudaHoles, MatchTheReference) {
  for (const int temporal : {0, 1}) {
    const Params params = test_params(temporal);
    const int frames = temporal > 0 ? 3 : 2;
    const auto reference = run(params, {.kind = BackendKind::reference}, frames, 100);
    const auto cuda = run(params, {.kind = BackendKind::cuda}, frames, 100);
    EXPECT_LT(difference(reference, cuda), 0.05 * sigma) << temporal;
  }
}

}  // namespace
}  // namespace lull::bm3d
