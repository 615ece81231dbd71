// Tests sessions of the profile `best` over time on the host backends.

#include <gtest/gtest.h>

#include "bm3d/each_backend.h"
#include "core/describe.h"
#include "support/moving_clips.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

Params best(int temporal, float sigma = moving_sigma) {
  return make_params(Profile::best, {sigma, sigma, sigma}, temporal);
}

std::vector<Frame> filter(const Params& params, const std::vector<Frame>& clip, BackendKind kind,
                          int threads = 2) {
  const auto session = open(params, clip[0].format, {.kind = kind, .threads = threads});
  std::vector<Frame> results = run_clip(*session, clip);
  EXPECT_EQ(results.size(), clip.size());
  return results;
}

/// Returns the PSNR of a plane of all frames of a pan.
double pan_psnr(const std::vector<Frame>& results, const std::vector<Frame>& clean, int plane) {
  double sum = 0;
  for (std::size_t n = 0; n < results.size(); ++n)
    sum += psnr(plane_of(results[n], plane).view(), plane_of(clean[n], plane).view());
  return sum / static_cast<double>(results.size());
}

/// The frames of noisy_pan() without noise.
std::vector<Frame> clean_pan(const FrameFormat& format, int count) {
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) {
    frames.push_back(make_frame(format));
    for (int i = 0; i < format.planes(); ++i) {
      const int w = format.plane_width(i), h = format.plane_height(i);
      const Plane<float> whole = texture_picture(w + 40, h + 20, i);
      Plane<float> part(w, h);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) part.view()(x, y) = whole.view()(x + 2 * n, y + n);
      store_plane(part.view(), frames.back(), i);
    }
  }
  return frames;
}

TEST(LinearOverTime, CpuAgreesWithTheReference) {
  for (const FrameFormat& format :
       {gray(44, 36, SampleType::f32, 32), yuv(49, 41, 1, 1, SampleType::u16, 10), rgb(40, 32)}) {
    ASSERT_TRUE(best(1).linear_combinations);
    const auto noisy = noisy_pan(format, 3), clean = clean_pan(format, 3);
    const auto cpu = filter(best(1), noisy, BackendKind::cpu);
    const auto reference = filter(best(1), noisy, BackendKind::reference);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_NEAR(pan_psnr(cpu, clean, i), pan_psnr(reference, clean, i), 0.01)
          << describe(format) << ", plane " << i;
  }
}

TEST(LinearOverTime, CpuIsBetterThanTheProfileHigh) {
  const FrameFormat format = gray(96, 80, SampleType::f32, 32);
  const auto noisy = noisy_pan(format, 7), clean = clean_pan(format, 7);
  const double result = pan_psnr(filter(best(2), noisy, BackendKind::cpu), clean, 0);
  const Params high = make_params(Profile::high, {moving_sigma, moving_sigma, moving_sigma}, 2);
  EXPECT_GT(result, pan_psnr(filter(high, noisy, BackendKind::cpu), clean, 0) + 0.2);
}

/// The phases of `best` without linear combinations.
Params phases_of_best(int temporal, void (*change)(Params&)) {
  Params params = best(temporal);
  change(params);
  search_where_needed(params);
  EXPECT_FALSE(params.linear_combinations);
  return params;
}
Params phases_of_high(int temporal, void (*change)(Params&)) {
  Params params = make_params(Profile::high, {moving_sigma, moving_sigma, moving_sigma}, temporal);
  change(params);
  return params;
}

TEST(LinearOverTime, ResultIsThatOfHighIfThePhasesRun) {
  auto clip = noisy_pan(gray(40, 32), 3);
  for (Frame& frame : clip) frame.guide = std::make_shared<const Frame>(frame);
  for (void (*change)(Params&) :
       {+[](Params& p) { p.hard.window = 9; }, +[](Params& p) { p.guided = true; },
        +[](Params& p) { p.hard.clusters = p.wiener.clusters = ClusterParams{}; }}) {
    const auto results = filter(phases_of_best(1, change), clip, BackendKind::cpu);
    const auto expected = filter(phases_of_high(1, change), clip, BackendKind::cpu);
    for (std::size_t n = 0; n < clip.size(); ++n)
      EXPECT_TRUE(same_samples(results[n], expected[n])) << n;
  }
}

TEST(LinearOverTime, CpuResultIsEqualForAnyNumberOfThreads) {
  const auto clip = noisy_pan(yuv(70, 52, 1, 1), 5);
  const auto first = filter(best(2), clip, BackendKind::cpu, 1);
  for (const int threads : {2, 5}) {
    const auto results = filter(best(2), clip, BackendKind::cpu, threads);
    for (std::size_t n = 0; n < clip.size(); ++n)
      EXPECT_TRUE(same_samples(results[n], first[n])) << threads << ", frame " << n;
  }
}

TEST(LinearOverTime, CpuResultOfAPartIsThatOfTheClip) {
  const Params params = best(1);
  const Margin around = margin(params);
  const int wanted = around.before + 1, count = wanted + around.after + 3;
  const auto clip = noisy_shake(gray(40, 36), count);
  const auto whole = filter(params, clip, BackendKind::cpu);
  const std::vector<Frame> part(clip.begin() + wanted - around.before,
                                clip.begin() + wanted + around.after + 1);
  const auto results = filter(params, part, BackendKind::cpu);
  EXPECT_TRUE(same_samples(results[around.before], whole[wanted]));
}

TEST(LinearOverTime, CpuTakesNothingFromAnotherScene) {
  const FrameFormat format = gray(64, 64);
  auto clip = noisy_pan(format, 3);
  std::vector<Frame> scene;
  for (int n = 0; n < 4; ++n) scene.push_back(noisy_frame(format, 20, n));
  for (const Frame& frame : scene) {  // another picture, upside down
    const auto samples = frame.plane<std::uint8_t>(0);
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 64; ++x) std::swap(samples(x, y), samples(63 - x, 63 - y));
  }
  clip.insert(clip.end(), scene.begin(), scene.end());
  const auto both = filter(best(2), clip, BackendKind::cpu);
  const auto alone = filter(best(2), scene, BackendKind::cpu);
  for (int n = 0; n < 4; ++n) EXPECT_TRUE(same_samples(both[3 + n], alone[n])) << n;
}

TEST(LinearOverTime, CpuRepeatsTheResultOfARepeatedFrame) {
  auto clip = noisy_pan(gray(48, 40), 3);
  clip.insert(clip.begin() + 1, clip[0]);
  const auto results = filter(best(1), clip, BackendKind::cpu);
  EXPECT_TRUE(same_samples(results[0], results[1]));
  EXPECT_FALSE(same_samples(results[1], results[2]));
}

TEST(LinearOverTime, CpuPreservesPlanesWithoutNoise) {
  const auto clip = noisy_pan(yuv(48, 40, 1, 1), 3);
  const auto results =
      filter(make_params(Profile::best, {12.0f, 0.0f, 12.0f}, 1), clip, BackendKind::cpu);
  EXPECT_FALSE(same_plane(results[1], clip[1], 0));
  EXPECT_TRUE(same_plane(results[1], clip[1], 1));
  EXPECT_FALSE(same_plane(results[1], clip[1], 2));
}

TEST(LinearOverTime, CpuAcceptsFramesOfAnySize) {
  for (const auto& [width, height] : {std::pair{7, 30}, {8, 8}, {16, 9}, {9, 120}}) {
    const auto clip = noisy_pan(yuv(width, height, 1, 1), 3);
    const auto results = filter(best(1), clip, BackendKind::cpu);
    const bool is_filtered = width >= 8 && height >= 8;
    EXPECT_EQ(same_plane(results[1], clip[1], 0), !is_filtered) << width << "x" << height;
  }
}

}  // namespace
}  // namespace lull::bm3d
