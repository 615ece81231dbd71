// Tests of the complete cpu engine without a session. They check properties that the tests of all
// backends cannot observe.

#include <gtest/gtest.h>

#include <cstring>

#include "bm3d/phase_engine.h"
#include "support/pictures.h"

namespace lull::bm3d {
namespace {

using lull::test_support::psnr;
using lull::test_support::texture_picture;
using lull::test_support::with_noise;

Plane<float> denoise(PhaseEngine& engine, const Params& params, PlaneView<const float> noisy) {
  Plane<float> basic(noisy.width, noisy.height), result(noisy.width, noisy.height);
  const auto sums = engine.make_sums(noisy.width, noisy.height);
  const FrameFormat gray{.width = noisy.width, .height = noisy.height};
  const PhasePlan first = plan_phase(Phase::first, params, gray);
  const PhasePlan second = plan_phase(Phase::second, params, gray);
  PhaseFrame frame{0, {.guide = {noisy}, .noisy = {noisy}, .sums = {sums.get()}}};
  KeptGroups groups;
  if (first.search_step > 0)
    engine.search({first, first.sets[0], {&frame, 1}, params.noise.sigma(0), &groups});
  engine.run({first, first.sets[0], {&frame, 1}, params.noise.sigma(0), &groups});
  engine.finish(first, *sums, basic.view());
  frame.frame.guide.samples = frame.frame.basic[0] = basic.view();
  engine.run({second, second.sets[0], {&frame, 1}, 0, &groups});
  engine.finish(second, *sums, result.view());
  return result;
}

bool same(PlaneView<const float> a, PlaneView<const float> b) {
  for (int y = 0; y < a.height; ++y)
    if (std::memcmp(a.row(y), b.row(y), a.width * sizeof(float)) != 0) return false;
  return true;
}

Params small_params(int step) {
  Params params = make_params(Profile::balanced, {20, 20, 20});
  for (PhaseParams* phase : {&params.hard, &params.wiener}) {
    phase->step = step;
    phase->window = 13;
    phase->group = 8;
  }
  return params;
}

// The test also uses an engine that has processed other sizes before and reuses its memory.
TEST(CpuEngine, GivesTheSameBitsWithAnyNumberOfThreads) {
  const auto used = make_cpu_engine(3);
  for (const auto& [width, height] : {std::pair{301, 83}, {64, 200}, {97, 101}})
    for (const int step : {1, 3, 5}) {
      const Plane<float> noisy = with_noise(texture_picture(width, height).view(), 20);
      const Params params = small_params(step);
      const Plane<float> expected = denoise(*make_cpu_engine(1), params, noisy.view());
      for (const int threads : {2, 4, 7})
        EXPECT_TRUE(
            same(expected.view(), denoise(*make_cpu_engine(threads), params, noisy.view()).view()))
            << width << "x" << height << ", step " << step << ", threads " << threads;
      EXPECT_TRUE(same(expected.view(), denoise(*used, params, noisy.view()).view()));
    }
}

TEST(CpuEngine, CoversPicturesOfEverySize) {
  const auto engine = make_cpu_engine(2), reference = make_reference_engine();
  for (int width = patch; width < 22; width += 3)
    for (int height = patch; height < 19; height += 2) {
      const Plane<float> noisy = with_noise(texture_picture(width, height).view(), 20);
      for (const int step : {3, 7}) {
        const Params params = small_params(step);
        const Plane<float> actual = denoise(*engine, params, noisy.view());
        const Plane<float> expected = denoise(*reference, params, noisy.view());
        // With this few groups, one flipped decision shows in all samples.
        EXPECT_GT(psnr(actual.view(), expected.view()), 34)
            << width << "x" << height << ", step " << step;
      }
    }
}

// The engine matches in a guide of bytes. The range and the offset of the samples must not affect
// the result.
TEST(CpuEngine, GuideRangeAndOffsetDoNotMatter) {
  const auto engine = make_cpu_engine(1);
  const Plane<float> clean = texture_picture(96, 80);
  const Plane<float> noisy = with_noise(clean.view(), 20);
  const double expected =
      psnr(denoise(*engine, small_params(4), noisy.view()).view(), clean.view());
  Plane<float> shifted(96, 80);
  for (int y = 0; y < 80; ++y)
    for (int x = 0; x < 96; ++x) shifted.view()(x, y) = noisy.view()(x, y) - 1000;
  Plane<float> result = denoise(*engine, small_params(4), shifted.view());
  for (int y = 0; y < 80; ++y)
    for (int x = 0; x < 96; ++x) result.view()(x, y) += 1000;
  EXPECT_NEAR(psnr(result.view(), clean.view()), expected, 0.02);
}

// Basic estimates are guides with little noise. In them the quantisation step of the bytes decides
// which patches are found: with a step three times as coarse, the groups agree far less.
TEST(CpuEngine, QuantisesTheGuideFinelyEnough) {
  const Plane<float> clean = texture_picture(96, 80);
  const Plane<float> noisy = with_noise(clean.view(), 20);
  const Plane<float> basic = with_noise(clean.view(), 1.5, 2);
  Params params = small_params(4);
  params.kept = 0;
  const PhasePlan plan = plan_phase(Phase::second, params, {.width = 96, .height = 80});
  std::array<Plane<float>, 2> results;
  int i = 0;
  for (const bool reference : {false, true}) {
    results[i] = Plane<float>(96, 80);
    const auto engine = reference ? make_reference_engine() : make_cpu_engine(1);
    const auto sums = engine->make_sums(96, 80);
    const PhaseFrame frame{0,
                           {.guide = {basic.view()},
                            .noisy = {noisy.view()},
                            .basic = {basic.view()},
                            .sums = {sums.get()}}};
    engine->run({plan, plan.sets[0], {&frame, 1}});
    engine->finish(plan, *sums, results[i++].view());
  }
  // The PSNR is 61.1 with the present quantisation step and 57.3 with a coarse one.
  EXPECT_GT(psnr(results[0].view(), results[1].view()), 60);
}

TEST(CpuEngine, FiltersPlanesWithTheGroupsOfTheGuide) {
  const Plane<float> luma = with_noise(texture_picture(90, 70).view(), 20, 1);
  const Plane<float> clean = texture_picture(90, 70, 1);
  const Plane<float> chroma = with_noise(clean.view(), 10, 2);
  Params params = small_params(3);
  params.noise = std::array<float, 3>{20, 10, 0};
  PhasePlan plan = plan_phase(Phase::first, params, {.width = 90, .height = 70});
  plan.sets = {{.planes = {0, 1}}};
  std::array<std::array<Plane<float>, 2>, 2> estimates;
  int i = 0;
  for (const bool reference : {false, true}) {
    auto& planes = estimates[i++];
    for (auto& plane : planes) plane = Plane<float>(90, 70);
    const auto engine = reference ? make_reference_engine() : make_cpu_engine(2);
    const std::array<std::unique_ptr<PhaseSums>, 2> sums{engine->make_sums(90, 70),
                                                         engine->make_sums(90, 70)};
    const PhaseFrame frame{0,
                           {.guide = {luma.view()},
                            .noisy = {luma.view(), chroma.view()},
                            .sums = {sums[0].get(), sums[1].get()}}};
    engine->run({plan, plan.sets[0], {&frame, 1}, 20});
    for (int p = 0; p < 2; ++p) engine->finish(plan, *sums[p], planes[p].view());
  }
  for (int p = 0; p < 2; ++p)
    EXPECT_GT(psnr(estimates[0][p].view(), estimates[1][p].view()), 45) << "plane " << p;
  EXPECT_GT(psnr(estimates[0][1].view(), clean.view()), psnr(chroma.view(), clean.view()) + 3);
}

TEST(CpuEngine, KeepsBlackWhiteAndFlatPictures) {
  const auto engine = make_cpu_engine(1);
  for (const float level : {0.0f, 255.0f, 77.5f}) {
    Plane<float> flat(50, 41);
    for (int y = 0; y < 41; ++y) std::fill_n(flat.view().row(y), 50, level);
    for (const Transform transform : {Transform::dct, Transform::bior, Transform::dft}) {
      Params params = small_params(4);
      params.hard.transform = params.wiener.transform = transform;
      const Plane<float> result = denoise(*engine, params, flat.view());
      for (int y = 0; y < 41; ++y)
        for (int x = 0; x < 50; ++x) ASSERT_NEAR(result.view()(x, y), level, 1e-3);
    }
  }
}

}  // namespace
}  // namespace lull::bm3d
