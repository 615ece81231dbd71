// Compares the Bayes phases on a GPU with the reference backend through the public interface.

#include <gtest/gtest.h>

#include <vector>

#include "bm3d/bm3d.h"
#include "support/bayes_clips.h"
#include "support/gpu.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

std::vector<Frame> result_on(BackendKind kind, const Params& params,
                             const std::vector<Frame>& frames) {
  return run_clip(*open(params, frames[0].format, {.kind = kind}), frames);
}

/// Returns the minimum PSNR of one result compared with another, over all planes and frames.
double min_psnr(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  double least = 200;
  for (std::size_t n = 0; n < a.size(); ++n)
    for (int i = 0; i < a[n].format.planes(); ++i)
      least = std::min(least, psnr(plane_of(a[n], i).view(), plane_of(b[n], i).view()));
  return least;
}

using CudaBayes = GpuTest;

// The first phases of the two backends always differ slightly; half precision adds a little.
TEST_F(CudaBayes, MatchesTheReference) {
  const FrameFormat yuv420{
      .width = 48, .height = 36, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
  const FrameFormat small_chroma{
      .width = 18, .height = 18, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
  for (const auto& [format, count] :
       {std::pair{FrameFormat{.width = 61, .height = 45}, 5}, std::pair{yuv420, 4},
        std::pair{small_chroma, 3},
        std::pair{FrameFormat{.width = 32, .height = 24, .layout = Layout::rgb}, 3},
        std::pair{FrameFormat{.width = 40, .height = 30}, 1}}) {
    SCOPED_TRACE(::testing::Message() << format.width << "x" << format.height << ", " << count);
    const std::vector<Frame> frames = noisy_pan(format, count);
    const auto expected = result_on(BackendKind::reference, small_best(2), frames);
    const auto result = result_on(BackendKind::cuda, small_best(2), frames);
    ASSERT_EQ(result.size(), frames.size());
    EXPECT_GT(min_psnr(result, expected), 42);
  }
}

/// Each phase is tested as the last one.
TEST_F(CudaBayes, EachPhaseMatchesTheReference) {
  const std::vector<Frame> frames = noisy_pan({.width = 61, .height = 45}, 4);
  for (const int phases : {1, 2, 3}) {
    Params params = small_best(2);
    params.phases = phases;
    EXPECT_GT(min_psnr(result_on(BackendKind::cuda, params, frames),
                       result_on(BackendKind::reference, params, frames)),
              42)
        << phases;
  }
}

TEST_F(CudaBayes, MatchesTheReferenceOnShakyClip) {
  for (const FrameFormat& format : {FrameFormat{.width = 80, .height = 70}, FrameFormat{.width = 96,
                                                                            .height = 72,
                                                                            .layout = Layout::yuv,
                                                                            .chroma_shift_x = 1,
                                                                            .chroma_shift_y = 1}}) {
    const std::vector<Frame> frames = noisy_shake(format, 5);
    EXPECT_GT(min_psnr(result_on(BackendKind::cuda, small_best(2), frames),
                       result_on(BackendKind::cpu, small_best(2), frames)),
              42);
  }
}

TEST_F(CudaBayes, PhasesOfBestProfileMatchTheHostAtEveryNoiseLevel) {
  const std::vector<Frame> frames = noisy_pan({.width = 90, .height = 70}, 4);
  for (const float sigma : {2.0f, 20.0f, 60.0f}) {
    Params params = make_params(Profile::best, {sigma, 0, 0}, 4);
    params.linear_combinations = false;  // GPUs do not have them over time
    EXPECT_GT(min_psnr(result_on(BackendKind::cuda, params, frames),
                       result_on(BackendKind::cpu, params, frames)),
              sigma < 10 ? 50 : 40)
        << sigma;
  }
}

// Rounding to half precision causes errors of 2^-12 of the contrast of a block. If the noise is
// weaker than this error, the filter must not increase it, and no value may become infinite.
TEST_F(CudaBayes, ImprovesWeakNoise) {
  const FrameFormat format{
      .width = 90, .height = 70, .sample = SampleType::f32, .bits = 32, .white = 255};
  constexpr double limit_of_halves = 76;
  const Plane<float> clean = texture_picture(format.width, format.height);
  for (const float sigma : {0.001f, 0.003f, 0.01f, 0.03f, 0.1f, 0.3f, 1.0f, 100.0f}) {
    std::vector<Frame> frames;
    for (int n = 0; n < 4; ++n) {
      frames.push_back(make_frame(format));
      store_plane(with_noise(clean.view(), sigma, n + 1).view(), frames.back(), 0);
      frames.back().pts = n;
    }
    Params params = make_params(Profile::best, {sigma, 0, 0}, 2);
    params.linear_combinations = false;
    const std::vector<Frame> result = result_on(BackendKind::cuda, params, frames);
    for (std::size_t n = 0; n < frames.size(); ++n)
      EXPECT_GT(psnr(plane_of(result[n], 0).view(), clean.view()),
                std::min(psnr(plane_of(frames[n], 0).view(), clean.view()), limit_of_halves))
          << "sigma " << sigma << ", frame " << n;
    if (sigma < 0.3f) continue;
    EXPECT_GT(min_psnr(result, result_on(BackendKind::cpu, params, frames)), sigma < 10 ? 52 : 35)
        << sigma;
  }
}

// These windows do not fit into shared memory.
TEST_F(CudaBayes, ReadsWideWindowsFromDeviceMemory) {
  const std::vector<Frame> frames = noisy_pan({.width = 50, .height = 40}, 18);
  Params params = small_best(max_temporal);
  for (BayesParams& phase : params.bayes_phases) {
    phase.window = 31, phase.temporal_window = 15;
    phase.side = 10, phase.step = 8;
  }
  EXPECT_GT(min_psnr(result_on(BackendKind::cuda, params, frames),
                     result_on(BackendKind::cpu, params, frames)),
            42);
}

TEST_F(CudaBayes, BatchSizeAndRepetitionDoNotChangeResult) {
  const std::vector<Frame> frames = noisy_pan({.width = 90, .height = 70}, 4);
  Params params = small_best(1);
  const auto once = result_on(BackendKind::cuda, params, frames);
  const auto again = result_on(BackendKind::cuda, params, frames);
  params.batch = {32, 32};
  const auto batches = result_on(BackendKind::cuda, params, frames);
  for (std::size_t n = 0; n < frames.size(); ++n) {
    EXPECT_TRUE(same_samples(once[n], again[n])) << n;
    EXPECT_TRUE(same_samples(once[n], batches[n])) << n;
  }
}

}  // namespace
}  // namespace lull::bm3d
