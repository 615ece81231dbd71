// Tests sessions of the profile `best` for single pictures, in all formats and on both host
// backends.

#include <gtest/gtest.h>

#include "bm3d/each_backend.h"
#include "bm3d/open/linear_session.h"
#include "core/describe.h"
#include "noise/holes.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

Params best(const NoiseModel& noise) { return make_params(Profile::best, noise); }
Params best(const std::array<float, 3>& sigma) { return best(NoiseModel(sigma)); }

Frame clean_frame(const FrameFormat& format) { return noisy_frame(format, 0); }

Frame filter(const Params& params, const Frame& frame, BackendKind kind, int threads = 2) {
  const auto session = open(params, frame.format, {.kind = kind, .threads = threads});
  const std::vector<Frame> results = run_clip(*session, {frame});
  EXPECT_EQ(results.size(), 1u);
  return results.at(0);
}

double plane_psnr(const Frame& a, const Frame& b, int i) {
  return psnr(plane_of(a, i).view(), plane_of(b, i).view());
}

void expect_improvement(const Frame& result, const Frame& noisy, const Frame& clean) {
  for (int i = 0; i < clean.format.planes(); ++i)
    EXPECT_GT(plane_psnr(result, clean, i), plane_psnr(noisy, clean, i) + 6)
        << describe(clean.format) << ", plane " << i;
}

TEST(LinearSession, CpuFiltersAllFormats) {
  for (const FrameFormat& format :
       {gray(72, 48), gray(72, 48, SampleType::u16, 10), gray(72, 48, SampleType::u16, 16),
        gray(72, 48, SampleType::f32, 32), yuv(72, 48, 1, 1),
        yuv(73, 49, 1, 0, SampleType::u16, 10), yuv(72, 48, 0, 0), rgb(72, 48),
        rgb(72, 48, SampleType::u16, 12), rgb(72, 48, SampleType::f32, 32)}) {
    const Frame noisy = noisy_frame(format, 20);
    const Frame result = filter(best(std::array{20.0f, 20.0f, 20.0f}), noisy, BackendKind::cpu);
    expect_improvement(result, noisy, clean_frame(format));
  }
}

TEST(LinearSession, CpuAgreesWithTheReference) {
  for (const FrameFormat& format :
       {gray(48, 40), yuv(49, 41, 1, 1, SampleType::u16, 10), rgb(40, 32, SampleType::f32, 32)}) {
    const Params params = best(std::array{20.0f, 20.0f, 20.0f});
    ASSERT_TRUE(params.linear_combinations);
    const Frame noisy = noisy_frame(format, 20), clean = clean_frame(format);
    const Frame cpu = filter(params, noisy, BackendKind::cpu);
    const Frame reference = filter(params, noisy, BackendKind::reference);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_NEAR(plane_psnr(cpu, clean, i), plane_psnr(reference, clean, i), 0.01)
          << describe(format) << ", plane " << i;
  }
}

TEST(LinearSession, CpuIsBetterThanTheProfileHigh) {
  for (const float sigma : {10.0f, 25.0f, 50.0f}) {
    const FrameFormat format = gray(128, 96, SampleType::f32, 32);
    const Frame noisy = noisy_frame(format, static_cast<double>(sigma));
    const Frame clean = clean_frame(format);
    const Frame result = filter(best(std::array{sigma, sigma, sigma}), noisy, BackendKind::cpu);
    const Frame high =
        filter(make_params(Profile::high, {sigma, sigma, sigma}), noisy, BackendKind::cpu);
    EXPECT_GT(plane_psnr(result, clean, 0), plane_psnr(high, clean, 0) + 0.1) << sigma;
  }
}

TEST(LinearSession, CpuResultIsEqualForAnyNumberOfThreads) {
  for (const FrameFormat& format : {yuv(150, 100, 1, 1), rgb(90, 80)}) {
    const Frame noisy = noisy_frame(format, 15);
    const Frame first = filter(best(std::array{15.0f, 15.0f, 15.0f}), noisy, BackendKind::cpu, 1);
    for (const int threads : {2, 3, 7})
      EXPECT_TRUE(same_samples(
          filter(best(std::array{15.0f, 15.0f, 15.0f}), noisy, BackendKind::cpu, threads), first))
          << threads;
  }
}

TEST(LinearSession, CpuPreservesPlanesWithoutNoise) {
  const FrameFormat format = yuv(72, 48, 1, 1);
  const Frame noisy = noisy_frame(format, 12);
  const Frame luma_only = filter(best(std::array{12.0f, 0.0f, 0.0f}), noisy, BackendKind::cpu);
  EXPECT_FALSE(same_plane(luma_only, noisy, 0));
  EXPECT_TRUE(same_plane(luma_only, noisy, 1));
  EXPECT_TRUE(same_plane(luma_only, noisy, 2));
  const Frame one_chroma = filter(best(std::array{0.0f, 0.0f, 12.0f}), noisy, BackendKind::cpu);
  EXPECT_TRUE(same_plane(one_chroma, noisy, 0));
  EXPECT_TRUE(same_plane(one_chroma, noisy, 1));
  EXPECT_FALSE(same_plane(one_chroma, noisy, 2));
  EXPECT_TRUE(
      same_samples(filter(best(std::array{0.0f, 0.0f, 0.0f}), noisy, BackendKind::cpu), noisy));
}

TEST(LinearSession, CpuAcceptsPicturesOfAnySize) {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 30}, {8, 8}, {16, 9}, {9, 200}})
    for (const bool colour : {false, true}) {
      const FrameFormat format = colour ? yuv(width, height, 1, 1) : gray(width, height);
      const Frame noisy = noisy_frame(format, 20);
      const Frame result = filter(best(std::array{20.0f, 20.0f, 20.0f}), noisy, BackendKind::cpu);
      for (int i = 0; i < format.planes(); ++i) {
        const bool is_filtered = format.plane_width(i) >= 8 && format.plane_height(i) >= 8;
        EXPECT_EQ(same_plane(result, noisy, i), !is_filtered) << width << "x" << height;
      }
    }
}

TEST(LinearSession, CpuKeepsOutOfRangeSamples) {
  const FrameFormat format = gray(64, 48, SampleType::f32, 32);
  const Frame noisy = noisy_frame(format, 10);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto samples = noisy.plane<float>(0);
  samples(10, 10) = nan;
  samples(20, 20) = 1000;
  samples(30, 30) = -std::numeric_limits<float>::infinity();
  const Frame result = filter(best(std::array{10.0f, 10.0f, 10.0f}), noisy, BackendKind::cpu);
  const auto filtered = result.plane<float>(0);
  EXPECT_TRUE(std::isnan(filtered(10, 10)));
  EXPECT_EQ(filtered(20, 20), 1000);
  EXPECT_EQ(filtered(30, 30), -std::numeric_limits<float>::infinity());
  int finite = 0;
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) finite += std::isfinite(filtered(x, y)) ? 1 : 0;
  EXPECT_EQ(finite, 64 * 48 - 2);
}

TEST(LinearSession, CpuRemovesColouredNoise) {
  // White noise, averaged over 3x3 samples.
  const FrameFormat format = gray(56, 48, SampleType::f32, 32);
  const Frame clean = clean_frame(format), noisy = make_frame(format);
  Plane<float> zero(58, 50);
  for (int y = 0; y < 50; ++y) std::fill_n(zero.view().row(y), 58, 0.0f);
  const auto white = with_noise(zero.view(), 30);
  NoiseModel model(std::array{10.0f, 10.0f, 10.0f});
  auto correlation = std::make_shared<Autocorrelation>();
  correlation->fill(0);
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx)
      (*correlation)[lag_index(dx, dy)] =
          static_cast<float>((3 - std::abs(dx)) * (3 - std::abs(dy))) / 9;
  for (int i = 0; i < 3; ++i) model.plane(i).correlation = correlation;
  const auto to = noisy.plane<float>(0), from = clean.plane<float>(0);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 56; ++x) {
      float sum = 0;
      for (int v = 0; v < 3; ++v)
        for (int u = 0; u < 3; ++u) sum += white.view()(x + u, y + v) / 9;
      to(x, y) = from(x, y) + sum / 255;
    }
  const Frame cpu = filter(best(model), noisy, BackendKind::cpu);
  const Frame reference = filter(best(model), noisy, BackendKind::reference);
  const Frame high = filter(make_params(Profile::high, model), noisy, BackendKind::cpu);
  EXPECT_NEAR(plane_psnr(cpu, clean, 0), plane_psnr(reference, clean, 0), 0.01);
  EXPECT_GT(plane_psnr(cpu, clean, 0), plane_psnr(high, clean, 0));
}

Params guided_best(float sigma) {
  Params params = best(std::array{sigma, sigma, sigma});
  params.guided = true;
  return params;
}

TEST(LinearSession, CpuAgreesWithTheReferenceWithAGuide) {
  for (const FrameFormat& format :
       {gray(48, 40), yuv(49, 41, 1, 1, SampleType::u16, 10), rgb(40, 32, SampleType::f32, 32)}) {
    const Frame noisy = with_guide(noisy_frame(format, 20), 2), clean = clean_frame(format);
    const Frame cpu = filter(guided_best(20), noisy, BackendKind::cpu);
    const Frame reference = filter(guided_best(20), noisy, BackendKind::reference);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_NEAR(plane_psnr(cpu, clean, i), plane_psnr(reference, clean, i), 0.01)
          << describe(format) << ", plane " << i;
  }
}

TEST(LinearSession, CpuIsBetterWithAGuideThanWithoutOneAndThanTheProfileHigh) {
  for (const float sigma : {10.0f, 25.0f, 50.0f}) {
    const FrameFormat format = gray(128, 96, SampleType::f32, 32);
    const Frame noisy = with_guide(noisy_frame(format, static_cast<double>(sigma)), 2);
    const Frame clean = clean_frame(format);
    Params high = make_params(Profile::high, {sigma, sigma, sigma});
    high.guided = true;
    const double result = plane_psnr(filter(guided_best(sigma), noisy, BackendKind::cpu), clean, 0);
    EXPECT_GT(result, plane_psnr(filter(high, noisy, BackendKind::cpu), clean, 0)) << sigma;
    const Params alone = best(std::array{sigma, sigma, sigma});
    EXPECT_GT(result, plane_psnr(filter(alone, noisy, BackendKind::cpu), clean, 0)) << sigma;
  }
}

TEST(LinearSession, RefusesFramesWithoutAMatchingGuide) {
  const FrameFormat format = gray(48, 40);
  const auto session = open(guided_best(20), format, {.kind = BackendKind::cpu});
  Frame noisy = noisy_frame(format, 20);
  EXPECT_THROW((void)session->push(noisy), InvalidArgument);
  noisy.guide = std::make_shared<const Frame>(noisy_frame(gray(40, 40), 0));
  EXPECT_THROW((void)session->push(noisy), InvalidArgument);
  EXPECT_TRUE(session->push(with_guide(noisy, 0)).has_value());
}

Frame with_holes(Frame frame) {
  std::vector<bool> hole;
  for (int y = 0; y < frame.format.height; ++y)
    for (int x = 0; x < frame.format.width; ++x) hole.push_back((x + y) % 23 < 3 && y % 9 < 4);
  frame.holes = std::make_shared<const Holes>(frame.format.width, frame.format.height, hole);
  return frame;
}

Params best_depth(float sigma) {
  return make_depth_params(Profile::best, NoiseModel(std::array{sigma, sigma, sigma}));
}

TEST(LinearSession, CpuAgreesWithTheReferenceForDepthMapsWithHoles) {
  const FrameFormat format = gray(56, 48, SampleType::f32, 32);
  const Frame noisy = with_holes(noisy_frame(format, 10)), clean = clean_frame(format);
  const Params params = best_depth(10);
  ASSERT_TRUE(params.linear_combinations);
  const Frame cpu = filter(params, noisy, BackendKind::cpu);
  EXPECT_NEAR(plane_psnr(cpu, clean, 0),
              plane_psnr(filter(params, noisy, BackendKind::reference), clean, 0), 0.01);
  EXPECT_GT(plane_psnr(cpu, clean, 0), plane_psnr(noisy, clean, 0) + 3);
  // Without the holes, other patches are candidates.
  Frame without = noisy;
  without.holes = nullptr;
  EXPECT_FALSE(same_samples(filter(params, without, BackendKind::cpu), cpu));
}

TEST(LinearParams, ApplyToTheProfileBest) {
  EXPECT_TRUE(make_params(Profile::best, {10, 10, 10}, 2).linear_combinations);
  EXPECT_FALSE(make_params(Profile::high, {10, 10, 10}).linear_combinations);
}

TEST(LinearParams, ApplyToGuidesAndDepthMapsOnlyWithoutTemporalFiltering) {
  Params still = guided_best(10);
  search_where_needed(still);
  EXPECT_TRUE(still.linear_combinations);
  validate(still);
  Params over_time = make_params(Profile::best, {10, 10, 10}, 2);
  over_time.guided = true;
  EXPECT_THROW(validate(over_time), InvalidArgument);
  search_where_needed(over_time);
  EXPECT_FALSE(over_time.linear_combinations);
  validate(over_time);
  Params depth = best_depth(10);
  search_where_needed(depth);
  EXPECT_TRUE(depth.linear_combinations);
  validate(depth);
  EXPECT_FALSE(make_depth_params(Profile::best, NoiseModel(std::array{10.0f, 10.0f, 10.0f}), 2)
                   .linear_combinations);
  EXPECT_FALSE(best_depth(16).linear_combinations) << "in strong noise, the phases are better";
}

}  // namespace
}  // namespace lull::bm3d
