// Tests sessions of the profile `best` over time on a GPU, compared with the host backends.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bm3d/each_backend.h"
#include "core/describe.h"
#include "linear/pictures.h"
#include "support/gpu.h"
#include "support/moving_clips.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

class CudaLinearOverTime : public GpuTest {};

Params best_over_time(int temporal, const NoiseModel& noise) {
  return make_params(Profile::best, noise, temporal);
}
Params best_over_time(int temporal, float sigma = moving_sigma) {
  return best_over_time(temporal, NoiseModel({sigma, sigma, sigma}));
}

std::vector<Frame> filter_over_time(const Params& params, const std::vector<Frame>& clip,
                                    BackendKind kind, int streams = 1) {
  const auto session =
      open(params, clip[0].format, {.kind = kind, .streams = streams, .threads = 4});
  std::vector<Frame> results = run_clip(*session, clip);
  EXPECT_EQ(results.size(), clip.size());
  return results;
}

/// Returns the mean PSNR of a plane in the frames of two clips.
double clip_psnr(const std::vector<Frame>& results, const std::vector<Frame>& clean, int plane) {
  double sum = 0;
  for (std::size_t n = 0; n < results.size(); ++n)
    sum += psnr(plane_of(results[n], plane).view(), plane_of(clean[n], plane).view());
  return sum / static_cast<double>(results.size());
}

/// Returns the smallest PSNR of a plane of one clip compared with another.
double least_psnr(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  double least = 200;
  for (std::size_t n = 0; n < a.size(); ++n)
    for (int i = 0; i < a[n].format.planes(); ++i)
      least = std::min(least, psnr(plane_of(a[n], i).view(), plane_of(b[n], i).view()));
  return least;
}

/// A pan by two columns and one row a frame, with white noise of this level.
std::vector<Frame> pan(const FrameFormat& format, int count, double sigma) {
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) {
    frames.push_back(make_frame(format));
    frames.back().pts = n;
    for (int i = 0; i < format.planes(); ++i) {
      const int w = format.plane_width(i), h = format.plane_height(i);
      const Plane<float> whole = texture_picture(w + 60, h + 30, i);
      Plane<float> part(w, h);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) part.view()(x, y) = whole.view()(x + 2 * n, y + n);
      store_plane(sigma > 0 ? with_noise(part.view(), sigma, 7 * n + i + 1).view() : part.view(),
                  frames.back(), i);
    }
  }
  return frames;
}

TEST_F(CudaLinearOverTime, AgreesWithTheHostInAllFormats) {
  for (const FrameFormat& format :
       {gray(72, 48, SampleType::f32, 32), gray(72, 48), gray(64, 48, SampleType::u16, 10),
        yuv(72, 48, 1, 1), yuv(73, 49, 1, 0, SampleType::u16, 10), yuv(48, 48, 0, 0), rgb(48, 40),
        rgb(48, 40, SampleType::u16, 12), rgb(48, 40, SampleType::f32, 32)}) {
    const auto noisy = pan(format, 5, 20), clean = pan(format, 5, 0);
    const auto cuda = filter_over_time(best_over_time(2), noisy, BackendKind::cuda);
    const auto cpu = filter_over_time(best_over_time(2), noisy, BackendKind::cpu);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_NEAR(clip_psnr(cuda, clean, i), clip_psnr(cpu, clean, i), 0.03)
          << describe(format) << ", plane " << i;
    EXPECT_GT(least_psnr(cuda, cpu), 46) << describe(format);
  }
}

TEST_F(CudaLinearOverTime, AgreesWithTheReference) {
  const FrameFormat format = gray(44, 36, SampleType::f32, 32);
  const auto noisy = pan(format, 3, 20), clean = pan(format, 3, 0);
  const auto cuda = filter_over_time(best_over_time(1), noisy, BackendKind::cuda);
  const auto reference = filter_over_time(best_over_time(1), noisy, BackendKind::reference);
  EXPECT_NEAR(clip_psnr(cuda, clean, 0), clip_psnr(reference, clean, 0), 0.03);
  EXPECT_GT(least_psnr(cuda, reference), 46);
}

TEST_F(CudaLinearOverTime, AgreesWithTheHostForEachNoiseLevelAndRadius) {
  for (const auto& [sigma, radius, count] : {std::tuple{0.5f, 1, 4},
                                             {2.0f, 2, 5},
                                             {10.0f, 4, 11},
                                             {25.0f, 4, 6},
                                             {50.0f, 3, 8},
                                             {100.0f, 1, 2},
                                             {20.0f, 8, 12}}) {
    const FrameFormat format = gray(80, 64, SampleType::f32, 32);
    const auto noisy = pan(format, count, static_cast<double>(sigma));
    const auto clean = pan(format, count, 0);
    const auto cuda = filter_over_time(best_over_time(radius, sigma), noisy, BackendKind::cuda);
    const auto cpu = filter_over_time(best_over_time(radius, sigma), noisy, BackendKind::cpu);
    EXPECT_NEAR(clip_psnr(cuda, clean, 0), clip_psnr(cpu, clean, 0), 0.05)
        << sigma << ", radius " << radius;
  }
}

TEST_F(CudaLinearOverTime, AgreesWithTheHostOnShakyClip) {
  for (const FrameFormat& format : {gray(96, 72), yuv(96, 72, 1, 1)}) {
    const auto noisy = noisy_shake(format, 6);
    EXPECT_GT(least_psnr(filter_over_time(best_over_time(2), noisy, BackendKind::cuda),
                         filter_over_time(best_over_time(2), noisy, BackendKind::cpu)),
              44);
  }
}

TEST_F(CudaLinearOverTime, AgreesWithTheHostWithColouredNoise) {
  const FrameFormat format = gray(88, 72, SampleType::f32, 32);
  for (const bool coarse : {false, true}) {
    const PlaneNoise plane = coarse ? linear::averaged(20) : linear::white(20);
    auto correlation = std::make_shared<Autocorrelation>();
    if (coarse) {
      *correlation = *plane.correlation;
    } else {  // averaged over two neighbours in a row
      correlation->fill(0);
      (*correlation)[lag_index(0, 0)] = 1;
      (*correlation)[lag_index(1, 0)] = (*correlation)[lag_index(-1, 0)] = 0.5f;
    }
    const int columns = coarse ? 3 : 2, rows = coarse ? 3 : 1;
    const double white = coarse ? 60 : 20 * std::sqrt(2.0);
    const auto clean = pan(format, 4, 0);
    std::vector<Frame> noisy;
    for (std::size_t n = 0; n < clean.size(); ++n) {
      noisy.push_back(make_frame(format));
      Plane<float> zero(90, 74);
      for (int y = 0; y < 74; ++y) std::fill_n(zero.view().row(y), 90, 0.0f);
      const auto noise = with_noise(zero.view(), white, static_cast<int>(n) + 1);
      const auto to = noisy.back().plane<float>(0), from = clean[n].plane<float>(0);
      for (int y = 0; y < 72; ++y)
        for (int x = 0; x < 88; ++x) {
          float sum = 0;
          for (int v = 0; v < rows; ++v)
            for (int u = 0; u < columns; ++u) sum += noise.view()(x + u, y + v);
          to(x, y) = from(x, y) + sum / static_cast<float>(columns * rows) / 255;
        }
    }
    NoiseModel model({20, 20, 20});
    for (int i = 0; i < 3; ++i) model.plane(i).correlation = correlation;
    const auto cuda = filter_over_time(best_over_time(1, model), noisy, BackendKind::cuda);
    const auto cpu = filter_over_time(best_over_time(1, model), noisy, BackendKind::cpu);
    EXPECT_NEAR(clip_psnr(cuda, clean, 0), clip_psnr(cpu, clean, 0), 0.05) << coarse;
    EXPECT_GT(clip_psnr(cuda, clean, 0), clip_psnr(noisy, clean, 0) + 3) << coarse;
  }
}

TEST_F(CudaLinearOverTime, ResultIsEqualInEachRunAndForAnyNumberOfStreams) {
  const auto clip = noisy_pan(yuv(150, 100, 1, 1), 6);
  const auto first = filter_over_time(best_over_time(2), clip, BackendKind::cuda, 1);
  for (const int streams : {1, 3}) {
    const auto again = filter_over_time(best_over_time(2), clip, BackendKind::cuda, streams);
    for (std::size_t n = 0; n < clip.size(); ++n)
      EXPECT_TRUE(same_samples(first[n], again[n])) << streams << ", frame " << n;
  }
}

TEST_F(CudaLinearOverTime, ResultOfAPartIsThatOfTheClip) {
  const Params params = best_over_time(1);
  const Margin around = margin(params);
  const int wanted = around.before + 1, count = wanted + around.after + 3;
  const auto clip = noisy_shake(gray(48, 40), count);
  const auto whole = filter_over_time(params, clip, BackendKind::cuda);
  const std::vector<Frame> part(clip.begin() + wanted - around.before,
                                clip.begin() + wanted + around.after + 1);
  const auto results = filter_over_time(params, part, BackendKind::cuda);
  EXPECT_TRUE(same_samples(results[around.before], whole[wanted]));
}

TEST_F(CudaLinearOverTime, TakesNothingFromAnotherScene) {
  const FrameFormat format = gray(64, 64);
  auto clip = noisy_pan(format, 3);
  const std::vector<Frame> scene = noisy_shake(format, 4);
  for (const Frame& frame : scene) {  // another picture, upside down
    const auto samples = frame.plane<std::uint8_t>(0);
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 64; ++x) std::swap(samples(x, y), samples(63 - x, 63 - y));
  }
  clip.insert(clip.end(), scene.begin(), scene.end());
  const auto both = filter_over_time(best_over_time(2), clip, BackendKind::cuda);
  const auto alone = filter_over_time(best_over_time(2), scene, BackendKind::cuda);
  for (int n = 0; n < 4; ++n) EXPECT_TRUE(same_samples(both[3 + n], alone[n])) << n;
}

TEST_F(CudaLinearOverTime, PreservesPlanesWithoutNoise) {
  const auto clip = noisy_pan(yuv(48, 40, 1, 1), 3);
  const auto results = filter_over_time(best_over_time(1, NoiseModel({12.0f, 0.0f, 12.0f})), clip,
                                        BackendKind::cuda);
  EXPECT_FALSE(same_plane(results[1], clip[1], 0));
  EXPECT_TRUE(same_plane(results[1], clip[1], 1));
  EXPECT_FALSE(same_plane(results[1], clip[1], 2));
}

TEST_F(CudaLinearOverTime, AcceptsFramesOfAnySize) {
  for (const auto& [width, height] : {std::pair{7, 30}, {8, 8}, {16, 9}, {9, 120}, {200, 9}})
    for (const int count : {1, 3}) {
      const auto clip = noisy_pan(yuv(width, height, 1, 1), count);
      const auto cuda = filter_over_time(best_over_time(1), clip, BackendKind::cuda);
      const bool is_filtered = width >= 8 && height >= 8;
      EXPECT_EQ(same_plane(cuda.back(), clip.back(), 0), !is_filtered) << width << "x" << height;
      EXPECT_GT(least_psnr(cuda, filter_over_time(best_over_time(1), clip, BackendKind::cpu)), 44)
          << width << "x" << height;
    }
}

TEST_F(CudaLinearOverTime, AgreesWithTheHostInFlatAndRepeatedPictures) {
  const FrameFormat format = gray(96, 64, SampleType::f32, 32);
  for (const int kind : {0, 1, 2})
    for (const float sigma : {0.5f, 20.0f, 100.0f}) {
      std::vector<Frame> clip;
      for (int n = 0; n < 4; ++n) {
        clip.push_back(make_frame(format));
        const auto samples = clip.back().plane<float>(0);
        for (int y = 0; y < 64; ++y)
          for (int x = 0; x < 96; ++x)
            samples(x, y) = kind == 0   ? 0.5f + 0.01f * static_cast<float>(n)
                            : kind == 1 ? static_cast<float>((x + n) % 4 < 2)
                                        : static_cast<float>(x + n >= 48);
      }
      const auto cuda = filter_over_time(best_over_time(2, sigma), clip, BackendKind::cuda);
      const auto cpu = filter_over_time(best_over_time(2, sigma), clip, BackendKind::cpu);
      double worst = 0;
      for (std::size_t n = 0; n < clip.size(); ++n) {
        const auto filtered = cuda[n].plane<float>(0), expected = cpu[n].plane<float>(0);
        for (int y = 0; y < 64; ++y)
          for (int x = 0; x < 96; ++x) {
            ASSERT_TRUE(std::isfinite(filtered(x, y))) << kind << ", " << sigma;
            worst = std::max(worst, std::abs(static_cast<double>(filtered(x, y) - expected(x, y))));
          }
      }
      EXPECT_LT(worst * 255, kind == 0 ? 0.05 : 2.0) << kind << ", " << sigma;
    }
}

}  // namespace
}  // namespace lull::bm3d
