// Tests noise whose level depends on the brightness, and clipped noise, on every backend.

#include "support/curved_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

FrameFormat format_of(Layout layout, SampleType sample, int width, int height, int shift = 0) {
  return {.width = width,
          .height = height,
          .layout = layout,
          .sample = sample,
          .bits = sample == SampleType::u8    ? 8
                  : sample == SampleType::u16 ? 12
                                              : 32,
          .chroma_shift_x = shift,
          .chroma_shift_y = shift};
}

/// These parameters are fast enough for the reference backend.
Params quick_params(const NoiseModel& noise, int temporal = 0) {
  Params params = make_params(Profile::balanced, noise, temporal);
  params.hard.window = params.wiener.window = 15;
  return params;
}

NoiseModel same_in_all_planes(const NoiseCurve& curve) {
  NoiseModel noise;
  for (int i = 0; i < 3; ++i) noise.plane(i) = noise_of(curve);
  return noise;
}

Plane<float> flat(int width, int height, float value) {
  Plane<float> plane(width, height);
  for (int y = 0; y < height; ++y) std::fill_n(plane.view().row(y), width, value);
  return plane;
}

double mean_of(const Plane<float>& plane) {
  double sum = 0;
  for (int y = 0; y < plane.height(); ++y)
    for (int x = 0; x < plane.width(); ++x) sum += static_cast<double>(plane.view()(x, y));
  return sum / plane.width() / plane.height();
}

/// Returns the texture picture with a dark left half.
Plane<float> shaded(const FrameFormat& format, int plane) {
  Plane<float> picture =
      texture_picture(format.plane_width(plane), format.plane_height(plane), plane);
  for (int y = 0; y < picture.height(); ++y)
    for (int x = 0; x < picture.width() / 2; ++x) picture.view()(x, y) *= 0.15f;
  return picture;
}

Frame noisy_texture(const FrameFormat& format, const NoiseCurve& curve, unsigned seed = 0) {
  Frame frame = make_frame(format);
  for (int i = 0; i < format.planes(); ++i)
    store_plane(with_noise(shaded(format, i).view(), curve, 10 * seed + i + 1).view(), frame, i);
  return frame;
}

double psnr_of(const Frame& frame, int plane) {
  return psnr(plane_of(frame, plane).view(), shaded(frame.format, plane).view());
}

Frame denoise(const Params& params, const Frame& frame, const Backend& backend) {
  return run_clip(*open(params, frame.format, backend), {frame}).at(0);
}

class CurvedNoise : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    backend_.kind = GetParam();
    try {
      (void)open(quick_params({{10, 10, 10}}), format_of(Layout::gray, SampleType::u8, 16, 16),
                 backend_);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
  }
  Backend backend_;
};

INSTANTIATE_TEST_SUITE_P(Bm3d, CurvedNoise,
                         ::testing::Values(BackendKind::reference, BackendKind::cpu,
                                           BackendKind::cuda),
                         [](const auto& info) {
                           return std::string(info.param == BackendKind::reference ? "reference"
                                              : info.param == BackendKind::cpu     ? "cpu"
                                                                                   : "cuda");
                         });

// Clipped noise with a standard deviation of 40 raises the mean of black by 16 levels and lowers
// the mean of white by as much.
TEST_P(CurvedNoise, BlackStaysBlackAndWhiteStaysWhite) {
  const NoiseCurve curve = clipped(poissonian(0, 1600));
  NoiseModel noise;
  noise.plane(0) = noise_of(curve);
  const FrameFormat format = format_of(Layout::gray, SampleType::u8, 96, 96);
  double sum = 0;
  const std::vector<float> levels{0, 3, 8, 255};
  for (std::size_t n = 0; n < levels.size(); ++n) {
    const float level = levels[n];
    const Frame frame = make_frame(format);
    store_plane(with_noise(flat(96, 96, level).view(), curve, static_cast<unsigned>(n)).view(),
                frame, 0);
    const auto error_with = [&](const NoiseModel& model) {
      const Plane<float> result = plane_of(denoise(quick_params(model), frame, backend_), 0);
      return (level < 128 ? 1 : -1) * (mean_of(result) - static_cast<double>(level));
    };
    if (n == 0) {
      EXPECT_GT(error_with({{40, 40, 40}}), 12);
    }
    const double error = error_with(noise);
    // Results cannot be darker than black, so the error at black has only one sign.
    EXPECT_LT(std::abs(error), 2.2) << level;
    sum += error;
  }
  EXPECT_LT(std::abs(sum) / static_cast<double>(levels.size()), 1);
}

/// Returns a picture with normal noise. Every picture has the same set of noise values, in another
/// order, so that one picture shows what would otherwise need the mean of many pictures.
Plane<float> with_stratified_noise(int side, float level, double sigma, const NoiseCurve& curve,
                                   unsigned seed = 1) {
  const int count = side * side;
  std::vector<float> values;
  double n = -5;
  for (int k = 0; k < count; ++k) {
    while (std::erfc(-n / std::sqrt(2.0)) / 2 < (k + 0.5) / count) n += 1e-4;
    values.push_back(std::clamp(level + static_cast<float>(sigma * n), curve.low, curve.high));
  }
  std::ranges::shuffle(values, std::mt19937{seed});
  Plane<float> plane(side, side);
  for (int y = 0; y < side; ++y) std::copy_n(values.data() + y * side, side, plane.view().row(y));
  return plane;
}

// Results cannot be darker than black. Nevertheless, the mean of black areas must be right.
TEST_P(CurvedNoise, BlackAreasKeepTheirMean) {
  const NoiseCurve curve = clipped(poissonian(0, 1600));
  NoiseModel noise;
  noise.plane(0) = noise_of(curve);
  for (const float level : {0.0f, 255.0f}) {
    const FrameFormat format = format_of(Layout::gray, SampleType::u16, 128, 128);
    const Frame frame = make_frame(format);
    store_plane(with_stratified_noise(128, level, 40, curve).view(), frame, 0);
    const Params params = make_params(Profile::balanced, noise);
    EXPECT_NEAR(mean_of(plane_of(denoise(params, frame, backend_), 0)), level, 0.3);
  }
}

// RGB is filtered as Y, U and V, whose noise is less skewed than that of R, G and B. Grey stored as
// RGB has the same noise in all three planes. Its Y is as skewed as a grey picture.
TEST_P(CurvedNoise, BlackAreasOfRgbKeepTheirMean) {
  const NoiseCurve curve = clipped(poissonian(0, 1600));
  const FrameFormat format = format_of(Layout::rgb, SampleType::u16, 96, 96);
  for (const bool shared : {false, true}) {
    NoiseModel noise = same_in_all_planes(curve);
    if (shared) {
      noise = NoiseModel::of_opponents({noise.plane(0), PlaneNoise{}, PlaneNoise{}});
      for (int i = 0; i < 3; ++i) noise.plane(i).curve = std::make_shared<NoiseCurve>(curve);
    }
    const Frame frame = make_frame(format);
    for (int i = 0; i < 3; ++i)
      store_plane(with_stratified_noise(96, 0, 40, curve, shared ? 1 : i + 1).view(), frame, i);
    const Frame clean = denoise(quick_params(noise), frame, backend_);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(mean_of(plane_of(clean, i)), 0, 0.6) << i << shared;
  }
}

TEST_P(CurvedNoise, FlatAreasKeepTheirMean) {
  const NoiseCurve curve = poissonian(2, 9);
  for (const Layout layout : {Layout::gray, Layout::rgb})
    for (const float level : {10.0f, 60.0f, 200.0f}) {
      const FrameFormat format = format_of(layout, SampleType::f32, 48, 48);
      const Frame frame = make_frame(format);
      std::array<double, 3> before{};
      for (int i = 0; i < format.planes(); ++i) {
        const Plane<float> noisy = with_noise(flat(64, 64, level).view(), curve, i + 1);
        before[i] = mean_of(noisy);
        store_plane(noisy.view(), frame, i);
      }
      const Frame clean = denoise(quick_params(same_in_all_planes(curve)), frame, backend_);
      for (int i = 0; i < format.planes(); ++i)
        EXPECT_NEAR(mean_of(plane_of(clean, i)), before[i], 0.65)
            << "plane " << i << " at " << level;
    }
}

/// Returns the PSNR of the dark half of the picture.
double psnr_in_shade(const Frame& frame, int plane) {
  const Plane<float> samples = plane_of(frame, plane), clean = shaded(frame.format, plane);
  const auto half = [](const Plane<float>& whole) {
    const auto view = whole.view();
    return PlaneView<const float>{view.data, view.width / 2, view.height, view.stride};
  };
  return psnr(half(samples), half(clean));
}

// A single level suits bright areas and is far too strong for dark ones. (This picture gains from
// slightly too strong filtering in both cases.)
TEST_P(CurvedNoise, NoiseCurveImprovesDarkAreas) {
  const NoiseCurve curve = poissonian(3, 4);
  for (const auto& [layout, sample, shift] :
       {std::tuple{Layout::gray, SampleType::u8, 0}, std::tuple{Layout::yuv, SampleType::u16, 1},
        std::tuple{Layout::rgb, SampleType::u8, 0}, std::tuple{Layout::rgb, SampleType::f32, 0}}) {
    const bool is_first = layout == Layout::gray;
    if (backend_.kind == BackendKind::reference && !is_first) continue;  // slow
    const FrameFormat format = format_of(layout, sample, 104, 80, shift);
    const Frame frame = noisy_texture(format, curve);
    const float level = 1.15f * curve.level();
    const Frame plain = denoise(quick_params({{level, level, level}}), frame, backend_);
    NoiseModel noise = same_in_all_planes(curve);
    for (int i = 0; i < 3; ++i) noise.plane(i).sigma *= 1.15f;
    const Frame clean = denoise(quick_params(noise), frame, backend_);
    double gain = 0, whole = 0;
    for (int i = 0; i < format.planes(); ++i) {
      gain += psnr_in_shade(clean, i) - psnr_in_shade(plain, i);
      whole += psnr_of(clean, i) - psnr_of(plain, i);
    }
    EXPECT_GT(gain / format.planes(), 0.4) << "layout " << int(layout) << int(sample);
    EXPECT_GT(whole / format.planes(), -0.25) << "layout " << int(layout) << int(sample);
  }
}

// Some planes have noise curves. The other planes are filtered with a single level or pass through.
TEST_P(CurvedNoise, EachPlaneUsesItsOwnCurve) {
  const NoiseCurve curve = poissonian(2, 9);
  const FrameFormat format = format_of(Layout::yuv, SampleType::u8, 72, 64);
  const Frame frame = noisy_texture(format, curve);
  NoiseModel noise({20, 15, 0});
  noise.plane(0) = noise_of(curve);
  noise.plane(2).curve = std::make_shared<NoiseCurve>(curve);  // the plane has no noise
  const Frame clean = denoise(quick_params(noise), frame, backend_);
  EXPECT_TRUE(same_plane(clean, frame, 2));
  EXPECT_GT(psnr_of(clean, 0), psnr_of(frame, 0) + 3);
  EXPECT_GT(psnr_of(clean, 1), psnr_of(frame, 1) + 3);
}

// Float samples outside the filter range are unchanged with a noise curve, too.
TEST_P(CurvedNoise, OutOfRangeSamplesAreUnchanged) {
  const NoiseCurve curve = poissonian(2, 9);
  const FrameFormat format = format_of(Layout::gray, SampleType::f32, 96, 80);
  const Frame frame = noisy_texture(format, curve), with = make_frame(format);
  copy_plane(frame, 0, with);
  const float values[] = {40, -3, INFINITY, -INFINITY, NAN};
  for (int k = 0; k < 5; ++k) with.plane<float>(0)(10 + 9 * k, 12 + 7 * k) = values[k];
  NoiseModel noise;
  noise.plane(0) = noise_of(curve);
  const Frame clean = denoise(quick_params(noise), with, backend_);
  for (int k = 0; k < 5; ++k) {
    const float v = clean.plane<float>(0)(10 + 9 * k, 12 + 7 * k);
    EXPECT_EQ(std::memcmp(&v, &values[k], sizeof v), 0) << values[k];
  }
  EXPECT_GT(psnr_of(denoise(quick_params(noise), frame, backend_), 0), psnr_of(frame, 0) + 3);
}

// Repeated frames, scene cuts and motion are detected in the original samples, before variance
// stabilisation.
TEST_P(CurvedNoise, TemporalFilteringImprovesAndDetectsRepeats) {
  const NoiseCurve curve = clipped(poissonian(3, 9));
  for (const Layout layout : {Layout::gray, Layout::rgb}) {
    if (backend_.kind == BackendKind::reference && layout == Layout::rgb) continue;  // slow
    const FrameFormat format = format_of(layout, SampleType::u8, 96, 80);
    std::vector<Frame> clip;
    for (unsigned n = 0; n < 3; ++n) clip.push_back(noisy_texture(format, curve, n));
    clip.insert(clip.begin() + 2, clip[1]);
    const NoiseModel noise = same_in_all_planes(curve);
    const auto results = run_clip(*open(quick_params(noise, 1), format, backend_), clip);
    ASSERT_EQ(results.size(), clip.size());
    EXPECT_TRUE(same_samples(results[1], results[2]));
    const Frame alone = denoise(quick_params(noise), clip[1], backend_);
    EXPECT_GT(psnr_of(results[1], 0), psnr_of(alone, 0) + 0.5);
  }
}

// Compares the other backends with the reference.
TEST_P(CurvedNoise, BackendsAgreeWithTheReference) {
  if (backend_.kind == BackendKind::reference) return;
  for (const auto& [layout, sample] :
       {std::pair{Layout::gray, SampleType::f32}, {Layout::rgb, SampleType::u8}}) {
    const NoiseCurve curve = clipped(poissonian(2, 25));
    const FrameFormat format = format_of(layout, sample, 112, 96);
    const Frame frame = noisy_texture(format, curve);
    const Params params = quick_params(same_in_all_planes(curve));
    const Frame expected = denoise(params, frame, {.kind = BackendKind::reference});
    const Frame actual = denoise(params, frame, backend_);
    for (int i = 0; i < format.planes(); ++i) {
      EXPECT_NEAR(psnr_of(actual, i), psnr_of(expected, i), 0.25);
      EXPECT_GT(psnr(plane_of(actual, i).view(), plane_of(expected, i).view()), 42);
    }
  }
}

}  // namespace
}  // namespace lull::bm3d
