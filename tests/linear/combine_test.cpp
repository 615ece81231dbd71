// Compares the steps of the cpu backend with those of the reference, in equal groups.

#include <gtest/gtest.h>

#include <utility>

#include "linear/pictures.h"
#include "linear/schedule.h"

namespace lull::linear {
namespace {

constexpr int width = 54, height = 40;

struct Result {
  PaddedPicture x, z;
};

/// Runs a step on the pictures y, x and z of `noise`.
Result run(Engine& engine, const Step& step, const PlaneNoise& noise, const GroupSizes& sizes,
           PlaneView<const float> clean) {
  const auto sigma = static_cast<double>(noise.sigma);
  const auto noisy = with_noise(clean, sigma), estimate = with_noise(clean, 0.2 * sigma, 2);
  Plane<float> partial(width, height);  // half of the noise is left
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      partial.view()(x, y) = 0.5f * (noisy.view()(x, y) + estimate.view()(x, y));
  PlanePictures pictures(noisy.view(), estimate.view(), partial.view(), noise);
  const PlaneState state = pictures.state();
  StillMemory memory;
  match_still(engine, state.x, any_range, sizes, memory.groups);
  combine_still(engine, step, state, memory);
  return {std::move(pictures.x), std::move(pictures.z)};
}

void expect_equal_steps(const PlaneNoise& noise, const GroupSizes& sizes,
                        PlaneView<const float> clean, double tolerance) {
  for (const Step& step :
       {Step{.is_pilot = true}, Step{.tau = 0.6f, .excess = 1.2f}, Step{.tau = 0.1f}, Step{}}) {
    const auto cpu = make_cpu_engine(2), reference = make_reference_engine();
    Result a = run(*cpu, step, noise, sizes, clean), b = run(*reference, step, noise, sizes, clean);
    EXPECT_LT(largest_difference(a.x.view(), b.x.view()), tolerance)
        << "sigma " << noise.sigma << ", tau " << step.tau << ", side " << sizes.side;
    EXPECT_LT(largest_difference(a.z.view(), b.z.view()), tolerance)
        << "sigma " << noise.sigma << ", tau " << step.tau << ", side " << sizes.side;
  }
}

TEST(CpuCombination, AgreesWithTheReference) {
  const auto clean = texture_picture(width, height);
  for (const float sigma : {0.5f, 5.0f, 25.0f, 100.0f})
    for (const GroupSizes& sizes : {GroupSizes{.side = 6, .group = 64, .step = 4, .window = 19},
                                    GroupSizes{.side = 13, .group = 16, .step = 5, .window = 13},
                                    GroupSizes{.side = 7, .group = 37, .step = 3, .window = 9}})
      expect_equal_steps(white(sigma), sizes, clean.view(), 0.06);
}

TEST(CpuCombination, AgreesWithTheReferenceInColouredNoise) {
  const auto clean = texture_picture(width, height);
  for (const float sigma : {2.0f, 15.0f, 60.0f})
    for (const GroupSizes& sizes : {GroupSizes{.side = 8, .group = 64, .step = 4, .window = 19},
                                    GroupSizes{.side = 11, .group = 16, .step = 5, .window = 13}})
      expect_equal_steps(averaged(sigma), sizes, clean.view(), 0.03);
}

/// Filters a picture with all steps.
Plane<float> filtered(Engine& engine, PlaneView<const float> noisy, const PlaneNoise& noise) {
  PlanePictures pictures(noisy, noisy, noisy, noise);
  const PlaneState state = pictures.state();
  StillMemory memory;
  filter_set(
      engine, parameters_for(noise.sigma), any_range, {&state, 1}, memory, [&](Source source) {
        return PlaneView<const float>(source == Source::y   ? state.y
                                      : source == Source::x ? PlaneView<const float>(state.x)
                                                            : PlaneView<const float>(state.z));
      });
  Plane<float> result(noisy.width, noisy.height);
  for (int y = 0; y < noisy.height; ++y)
    std::copy_n(state.x.row(y), noisy.width, result.view().row(y));
  return result;
}

TEST(CpuCombination, IsEqualForAnyNumberOfThreads) {
  const auto noisy = with_noise(texture_picture(150, 90).view(), 25);
  const auto first = filtered(*make_cpu_engine(1), noisy.view(), white(25));
  for (const int threads : {2, 3, 8}) {
    const auto engine = make_cpu_engine(threads);
    for (int run = 0; run < 2; ++run)
      EXPECT_EQ(largest_difference(filtered(*engine, noisy.view(), white(25)).view(), first.view()),
                0)
          << threads;
  }
}

/// Pictures in which the Gram matrix has a low rank.
Plane<float> degenerate(int kind) {
  Plane<float> picture(64, 48);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) {
      const float values[] = {0,
                              128,
                              255,
                              x < 32 ? 0.0f : 255.0f,      // flat, a step
                              x % 4 < 2 ? 20.0f : 220.0f,  // periodic
                              static_cast<float>((x % 8) * 30 + y % 4),
                              4.0f * static_cast<float>(x)};  // a slope
      picture.view()(x, y) = values[kind];
    }
  return picture;
}
constexpr int degenerate_kinds = 7;

/// Samples that the noise would carry beyond 0 or 255 stay there.
void clip(PlaneView<float> picture) {
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) picture(x, y) = std::clamp(picture(x, y), 0.0f, 255.0f);
}

TEST(CpuCombination, StaysFiniteAndImprovesDegeneratePictures) {
  const auto engine = make_cpu_engine(2);
  for (int kind = 0; kind < degenerate_kinds; ++kind)
    for (const float sigma : {0.5f, 3.0f, 20.0f, 100.0f})
      for (const bool clipped : {false, true}) {
        const auto clean = degenerate(kind);
        auto noisy = with_noise(clean.view(), static_cast<double>(sigma));
        if (clipped) clip(noisy.view());
        const auto result = filtered(*engine, noisy.view(), white(sigma));
        const double before = psnr(noisy.view(), clean.view());
        EXPECT_GT(psnr(result.view(), clean.view()), before - 0.1)
            << "picture " << kind << ", sigma " << sigma << ", clipped " << clipped;
      }
}

TEST(CpuCombination, PreservesDegeneratePicturesWithoutNoise) {
  const auto engine = make_cpu_engine(1);
  for (int kind = 0; kind < degenerate_kinds; ++kind)
    for (const float sigma : {0.5f, 20.0f}) {
      const auto clean = degenerate(kind);
      const auto result = filtered(*engine, clean.view(), white(sigma));
      EXPECT_LT(largest_difference(result.view(), clean.view()), kind < 3 ? 1e-3 : 8.0)
          << "picture " << kind << ", sigma " << sigma;
    }
}

}  // namespace
}  // namespace lull::linear
