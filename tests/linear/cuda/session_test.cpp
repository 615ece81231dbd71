// Tests sessions of the profile `best` for single pictures on a GPU, compared with the reference.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bm3d/each_backend.h"
#include "core/describe.h"
#include "noise/holes.h"
#include "support/gpu.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

class CudaLinearSession : public GpuTest {};

Params best(const NoiseModel& noise) { return make_params(Profile::best, noise); }
Params best(const std::array<float, 3>& sigma) { return best(NoiseModel(sigma)); }

Frame clean_frame(const FrameFormat& format) { return noisy_frame(format, 0); }

std::vector<Frame> filter_clip(const Params& params, const std::vector<Frame>& frames,
                               const Backend& backend) {
  const auto session = open(params, frames.front().format, backend);
  return run_clip(*session, frames);
}

Frame filter(const Params& params, const Frame& frame, BackendKind kind) {
  return filter_clip(params, {frame}, {.kind = kind}).at(0);
}

double plane_psnr(const Frame& a, const Frame& b, int i) {
  return psnr(plane_of(a, i).view(), plane_of(b, i).view());
}

TEST_F(CudaLinearSession, AgreesWithTheReferenceInAllFormats) {
  for (const FrameFormat& format :
       {gray(72, 48), gray(72, 48, SampleType::u16, 10), gray(72, 48, SampleType::f32, 32),
        yuv(72, 48, 1, 1), yuv(73, 49, 1, 0, SampleType::u16, 10), yuv(72, 48, 0, 0), rgb(72, 48),
        rgb(72, 48, SampleType::u16, 12), rgb(72, 48, SampleType::f32, 32)}) {
    const Frame noisy = noisy_frame(format, 20), clean = clean_frame(format);
    const Frame cuda = filter(best({20, 20, 20}), noisy, BackendKind::cuda);
    const Frame reference = filter(best({20, 20, 20}), noisy, BackendKind::reference);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_NEAR(plane_psnr(cuda, clean, i), plane_psnr(reference, clean, i), 0.03)
          << describe(format) << ", plane " << i;
  }
}

TEST_F(CudaLinearSession, AgreesWithTheReferenceWithAGuide) {
  for (const FrameFormat& format :
       {gray(72, 48), gray(72, 48, SampleType::f32, 32), yuv(72, 48, 1, 1),
        yuv(73, 49, 1, 0, SampleType::u16, 10), rgb(72, 48)}) {
    const Frame noisy = with_guide(noisy_frame(format, 20), 3), clean = clean_frame(format);
    Params params = best({20, 20, 20});
    params.guided = true;
    const Frame cuda = filter(params, noisy, BackendKind::cuda);
    const Frame reference = filter(params, noisy, BackendKind::reference);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_NEAR(plane_psnr(cuda, clean, i), plane_psnr(reference, clean, i), 0.03)
          << describe(format) << ", plane " << i;
  }
}

TEST_F(CudaLinearSession, UsesTheGuideOfEachFrame) {
  const FrameFormat format = gray(96, 64);
  Params params = best({40, 40, 40});
  params.guided = true;
  std::vector<Frame> frames;
  for (int k = 0; k < 5; ++k) frames.push_back(with_guide(noisy_frame(format, 40), 10.0 * k));
  const std::vector<Frame> together =
      filter_clip(params, frames, {.kind = BackendKind::cuda, .streams = 3});
  ASSERT_EQ(together.size(), frames.size());
  for (std::size_t k = 0; k < frames.size(); ++k)
    EXPECT_TRUE(same_samples(together[k], filter(params, frames[k], BackendKind::cuda))) << k;
  EXPECT_FALSE(same_samples(together[0], together[4]));
}

TEST_F(CudaLinearSession, AgreesWithTheReferenceForDepthMapsWithHoles) {
  const FrameFormat format = gray(97, 80, SampleType::f32, 32);
  const Frame clean = clean_frame(format);
  for (const float sigma : {2.0f, 5.0f, 10.0f}) {
    Frame noisy = noisy_frame(format, static_cast<double>(sigma));
    std::vector<bool> hole;
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x) hole.push_back((x + y) % 23 < 3 && y % 9 < 4);
    noisy.holes = std::make_shared<const Holes>(format.width, format.height, hole);
    const Params params =
        make_depth_params(Profile::best, NoiseModel(std::array{sigma, sigma, sigma}));
    ASSERT_TRUE(params.linear_combinations);
    const Frame cuda = filter(params, noisy, BackendKind::cuda);
    EXPECT_NEAR(plane_psnr(cuda, clean, 0),
                plane_psnr(filter(params, noisy, BackendKind::reference), clean, 0), 0.03)
        << sigma;
    // A frame without holes after a frame with holes: the session clears the flags.
    Frame without = noisy;
    without.holes = nullptr;
    const auto both =
        filter_clip(params, {noisy, without}, {.kind = BackendKind::cuda, .streams = 1});
    EXPECT_TRUE(same_samples(both[0], cuda));
    EXPECT_TRUE(same_samples(both[1], filter(params, without, BackendKind::cuda)));
    EXPECT_FALSE(same_samples(both[1], cuda));
  }
}

TEST_F(CudaLinearSession, AgreesWithTheReferenceForEachNoiseLevel) {
  for (const float sigma : {0.5f, 2.0f, 10.0f, 25.0f, 50.0f, 100.0f}) {
    const FrameFormat format = gray(96, 80, SampleType::f32, 32);
    const Frame noisy = noisy_frame(format, static_cast<double>(sigma));
    const Frame clean = clean_frame(format);
    const Params params = best({sigma, sigma, sigma});
    EXPECT_NEAR(plane_psnr(filter(params, noisy, BackendKind::cuda), clean, 0),
                plane_psnr(filter(params, noisy, BackendKind::reference), clean, 0), 0.05)
        << sigma;
  }
}

TEST_F(CudaLinearSession, ResultIsEqualForAnyNumberOfStreams) {
  const FrameFormat format = yuv(150, 100, 1, 1);
  std::vector<Frame> frames;
  for (int k = 0; k < 5; ++k) frames.push_back(noisy_frame(format, 10 + k));
  const std::vector<Frame> one =
      filter_clip(best({15, 15, 15}), frames, {.kind = BackendKind::cuda, .streams = 1});
  const std::vector<Frame> three =
      filter_clip(best({15, 15, 15}), frames, {.kind = BackendKind::cuda, .streams = 3});
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t k = 0; k < one.size(); ++k) EXPECT_TRUE(same_samples(one[k], three[k])) << k;
}

TEST_F(CudaLinearSession, AgreesWithTheReferenceInFlatAndRepeatedPictures) {
  const FrameFormat format = gray(96, 64, SampleType::f32, 32);
  for (const int kind : {0, 1, 2, 3})
    for (const float sigma : {0.5f, 20.0f, 100.0f}) {
      const Frame frame = make_frame(format);
      const auto samples = frame.plane<float>(0);
      for (int y = 0; y < 64; ++y)
        for (int x = 0; x < 96; ++x)
          samples(x, y) = kind == 0   ? 0.5f
                          : kind == 1 ? static_cast<float>(x % 4 < 2)
                          : kind == 2 ? static_cast<float>((x / 3 + y / 3) % 2)
                                      : static_cast<float>(x >= 48);
      const Frame cuda = filter(best({sigma, sigma, sigma}), frame, BackendKind::cuda);
      const Frame reference = filter(best({sigma, sigma, sigma}), frame, BackendKind::reference);
      const auto filtered = cuda.plane<float>(0), expected = reference.plane<float>(0);
      double worst = 0;
      for (int y = 0; y < 64; ++y)
        for (int x = 0; x < 96; ++x) {
          ASSERT_TRUE(std::isfinite(filtered(x, y))) << kind << ", " << sigma;
          worst = std::max(worst, std::abs(static_cast<double>(filtered(x, y) - expected(x, y))));
        }
      EXPECT_LT(worst * 255, kind == 0 ? 0.02 : 2.0) << kind << ", " << sigma;
    }
}

TEST_F(CudaLinearSession, AcceptsPicturesOfAnySize) {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 30}, {8, 8}, {16, 9}, {9, 200}})
    for (const bool colour : {false, true}) {
      const FrameFormat format = colour ? yuv(width, height, 1, 1) : gray(width, height);
      const Frame noisy = noisy_frame(format, 20);
      const Frame result = filter(best({20, 20, 20}), noisy, BackendKind::cuda);
      for (int i = 0; i < format.planes(); ++i) {
        const bool is_filtered = format.plane_width(i) >= 8 && format.plane_height(i) >= 8;
        EXPECT_EQ(same_plane(result, noisy, i), !is_filtered) << width << "x" << height;
      }
    }
}

TEST_F(CudaLinearSession, RemovesColouredNoise) {
  // White noise, averaged over two neighbours in a row.
  const FrameFormat format = gray(128, 96, SampleType::f32, 32);
  const Frame clean = clean_frame(format), noisy = make_frame(format);
  Plane<float> zero(129, 96);
  for (int y = 0; y < 96; ++y) std::fill_n(zero.view().row(y), 129, 0.0f);
  const auto white = with_noise(zero.view(), 20);
  auto correlation = std::make_shared<Autocorrelation>();
  correlation->fill(0);
  (*correlation)[lag_index(0, 0)] = 1;
  (*correlation)[lag_index(1, 0)] = (*correlation)[lag_index(-1, 0)] = 0.5f;
  const float sigma = 20 / std::sqrt(2.0f);
  NoiseModel model({sigma, sigma, sigma});
  for (int i = 0; i < 3; ++i) model.plane(i).correlation = correlation;
  const auto to = noisy.plane<float>(0), from = clean.plane<float>(0);
  for (int y = 0; y < 96; ++y)
    for (int x = 0; x < 128; ++x)
      to(x, y) = from(x, y) + (white.view()(x, y) + white.view()(x + 1, y)) / 2 / 255;
  const Frame cuda = filter(best(model), noisy, BackendKind::cuda);
  const Frame reference = filter(best(model), noisy, BackendKind::reference);
  EXPECT_NEAR(plane_psnr(cuda, clean, 0), plane_psnr(reference, clean, 0), 0.05);
}

}  // namespace
}  // namespace lull::bm3d
