// Tests the Bayes phases. The reference backend is compared with an eigendecomposition, and the cpu
// backend with the reference backend, stage by stage and for complete phases. Further tests check
// the frames into which patches extend and the parameters that are rejected.

#include "bm3d/cpu/bayes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "bm3d/bm3d.h"
#include "bm3d/phase_engine.h"
#include "bm3d/reference/bayes.h"
#include "core/error.h"
#include "noise/noise_model.h"
#include "support/bayes_clips.h"
#include "support/pictures.h"
#include "support/sessions.h"
#include "time/frame_pairs.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr float sigma = 20;

/// Returns element i of row k of the orthonormal DCT of n samples.
double dct_row(int n, int k, int i) {
  return std::sqrt((k == 0 ? 1.0 : 2.0) / n) * std::cos(std::numbers::pi * (i + 0.5) * k / n);
}

TEST(Bayes, FilterWeightsMatchEigendecomposition) {
  constexpr int n = 12;
  constexpr double threshold = 10;
  const auto value = [](int k) { return k == 3 ? 0.0 : 0.2 * std::pow(2.6, k); };
  for (const int sharpenings : {0, 1, 3}) {
    Matrix gram(n, n), expected(n, n);
    for (int k = 0; k < n; ++k) {
      double factor = value(k) / (value(k) + threshold), weight = 1 / (value(k) + threshold);
      for (int s = 0; s < sharpenings; ++s) {
        weight *= 3 * factor - 2 * factor * factor;
        factor *= 3 * factor - 2 * factor * factor;
      }
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          gram(i, j) += value(k) * dct_row(n, k, i) * dct_row(n, k, j);
          expected(i, j) += weight * dct_row(n, k, i) * dct_row(n, k, j);
        }
    }
    const Matrix weights = spectral_weights(gram, threshold, sharpenings);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) EXPECT_NEAR(weights(i, j), expected(i, j), 1e-9);
  }
}

/// Patches that combine a few common structures with noise.
Matrix some_patches(int count, int samples, double noise, std::uint32_t seed) {
  std::mt19937 rng{7};
  std::normal_distribution<double> structure(0, 25), grain(0, noise);
  Matrix common(3, samples), patches(count, samples);
  for (double& v : common.values) v = structure(rng);
  std::mt19937 own{seed};
  for (int m = 0; m < count; ++m)
    for (int i = 0; i < samples; ++i)
      patches(m, i) = 120 + common(m % 3, i) + 0.1 * m * common(0, i) / count + grain(own);
  return patches;
}

struct OfSize {
  int count, side, depth, group;
};

TEST(Bayes, CpuGroupEstimatesMatchReference) {
  for (const auto& [count, side, depth, group] :
       {OfSize{64, 10, 2, 64}, OfSize{37, 10, 2, 64}, OfSize{32, 8, 2, 32}, OfSize{5, 8, 2, 32},
        OfSize{20, 9, 1, 32}, OfSize{1, 8, 1, 64}})
    for (const bool by_basic : {false, true}) {
      SCOPED_TRACE(::testing::Message() << count << " of " << side << " " << by_basic);
      const int samples = side * side * depth, pitch = cpu::bayes_pitch(samples);
      const BayesParams params =
          make_params(Profile::best, {sigma, 0, 0}, 1).bayes_phases[by_basic ? 1 : 0];
      const Matrix noisy = some_patches(count, samples, sigma, 1);
      const Matrix basic = some_patches(count, samples, 4, 2);
      const Matrix expected = bayes_estimate(noisy, by_basic ? basic : noisy, sigma, params);
      const auto floats = [&](const Matrix& patches) {
        std::vector<float> rows(std::size_t{cpu::max_bayes_pitch} * max_large_group, 1e6f);
        for (int m = 0; m < count; ++m)
          for (int i = 0; i < samples; ++i) rows[m * pitch + i] = static_cast<float>(patches(m, i));
        return rows;
      };
      std::vector<float> y = floats(noisy), b = floats(basic), result = floats(noisy);
      std::vector<float> scratch(cpu::bayes_scratch_size);
      cpu::bayes_estimate({.noisy = y.data(),
                           .basic = by_basic ? b.data() : nullptr,
                           .result = result.data(),
                           .scratch = scratch.data(),
                           .count = count,
                           .group = group,
                           .samples = samples,
                           .pitch = pitch},
                          sigma, params);
      for (int m = 0; m < count; ++m)
        for (int i = 0; i < samples; ++i)
          ASSERT_NEAR(result[m * pitch + i], expected(m, i), 2e-3) << m << " " << i;
    }
}

/// Returns patches of an edge with little noise. The contrast exceeds the noise by so much that G
/// is nearly singular.
Matrix edge_patches(int count, int side, int depth, double contrast, double noise, unsigned seed) {
  std::mt19937 rng{seed};
  std::normal_distribution<double> grain(0, noise);
  Matrix patches(count, side * side * depth);
  for (int m = 0; m < count; ++m)
    for (int i = 0; i < patches.columns; ++i) {
      const int x = i % side, y = i / side % side;
      patches(m, i) = 128 + contrast * (2 * x + y > 14 ? 1 : -1) + 0.02 * m * (x - 5) + grain(rng);
    }
  return patches;
}

double rms_difference(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    sum += (a.values[i] - b.values[i]) * (a.values[i] - b.values[i]);
  return std::sqrt(sum / static_cast<double>(a.values.size()));
}

TEST(Bayes, CpuKeepsContrastInWeakNoise) {
  constexpr int count = 64, side = 10, depth = 2, samples = side * side * depth;
  const int pitch = cpu::bayes_pitch(samples);
  for (const bool by_basic : {false, true})
    for (const double noise : {0.001, 0.01, 0.1, 0.3, 1.0}) {
      const BayesParams params =
          make_params(Profile::best, {1, 0, 0}, 1).bayes_phases[by_basic ? 1 : 0];
      const Matrix clean = edge_patches(count, side, depth, 100, 0, 1);
      const Matrix noisy = edge_patches(count, side, depth, 100, noise, 2);
      const Matrix basic = edge_patches(count, side, depth, 100, noise / 2, 3);
      const auto floats = [&](const Matrix& patches) {
        std::vector<float> rows(std::size_t{cpu::max_bayes_pitch} * max_large_group);
        for (int m = 0; m < count; ++m)
          for (int i = 0; i < samples; ++i) rows[m * pitch + i] = static_cast<float>(patches(m, i));
        return rows;
      };
      std::vector<float> y = floats(noisy), b = floats(basic), rows = floats(noisy);
      std::vector<float> scratch(cpu::bayes_scratch_size);
      cpu::bayes_estimate({.noisy = y.data(),
                           .basic = by_basic ? b.data() : nullptr,
                           .result = rows.data(),
                           .scratch = scratch.data(),
                           .count = count,
                           .group = count,
                           .samples = samples,
                           .pitch = pitch},
                          static_cast<float>(noise), params);
      Matrix result(count, samples);
      for (int m = 0; m < count; ++m)
        for (int i = 0; i < samples; ++i) result(m, i) = static_cast<double>(rows[m * pitch + i]);
      // Rounding error of sums of 64 floats up to 228, in units of sigma.
      constexpr double rounding = 1e-4;
      EXPECT_LT(rms_difference(result, clean), 1.05 * noise + rounding) << noise << " " << by_basic;
    }
}

TEST(Bayes, CpuDistancesMatchDefinition) {
  const Plane<float> a = with_noise(texture_picture(60, 40).view(), 10, 1);
  const Plane<float> b = with_noise(texture_picture(60, 40).view(), 10, 2);
  for (const int side : {8, 9, 10})
    for (const int columns : {1, 4, 9, 15}) {
      std::vector<float> distances(columns);
      cpu::bayes_distances({{a.view().row(5) + 7, b.view().row(5) + 7},
                            {b.view().row(9) + 11, a.view().row(9) + 11},
                            a.view().stride,
                            side,
                            columns},
                           distances.data());
      for (int u = 0; u < columns; ++u) {
        const PatchShape shape{side, 2};
        const double expected = (patch_distance(a.view(), 7, 5, b.view(), 11 + u, 9, shape) +
                                 patch_distance(b.view(), 7, 5, a.view(), 11 + u, 9, shape)) /
                                2;
        EXPECT_NEAR(distances[u], expected, 1e-4 * expected);
      }
    }
}

TEST(Bayes, PatchesExtendIntoAdjacentFrame) {
  const auto partners = [](std::vector<int> offsets) {
    const auto all = partners_of(offsets);
    return std::vector<int>(all.begin(), all.begin() + std::ssize(offsets));
  };
  EXPECT_EQ(partners({0, -1, 1, -2, 2}), (std::vector{2, 0, 4, 1, no_frame}));
  EXPECT_EQ(partners({0, 2, 4}), (std::vector{1, 2, no_frame})) << "frames between are of others";
  EXPECT_EQ(partners({0, -1, -3}), (std::vector{1, 2, no_frame})) << "the last one of a scene";
  EXPECT_EQ(partners({0}), (std::vector{no_frame}));
}

TEST(Bayes, CpuBackendMatchesReference) {
  // Chroma of 9 x 9 samples uses smaller patches. A single frame has patches that lie in one frame
  // only.
  for (const auto& [format, count] :
       {std::pair{FrameFormat{.width = 41, .height = 35}, 4},
        std::pair{FrameFormat{.width = 18,
        .height = 18,
        .layout = Layout::yuv,
        .chroma_shift_x = 1,
        .chroma_shift_y = 1},
                  3},
        std::pair{FrameFormat{.width = 24, .height = 20, .layout = Layout::rgb}, 2},
        std::pair{FrameFormat{.width = 40, .height = 30}, 1}}) {
    const Params params = small_best(2);
    const std::vector<Frame> frames = noisy_pan(format, count);
    const auto run = [&](BackendKind kind) {
      return run_clip(*open(params, format, {.kind = kind, .threads = 2}), frames);
    };
    const std::vector<Frame> expected = run(BackendKind::reference), result = run(BackendKind::cpu);
    ASSERT_EQ(result.size(), frames.size());
    for (std::size_t n = 0; n < frames.size(); ++n)
      for (int i = 0; i < format.planes(); ++i)
        EXPECT_GT(psnr(plane_of(result[n], i).view(), plane_of(expected[n], i).view()), 50)
            << "frame " << n << ", plane " << i << " of " << count;
  }
}

TEST(Bayes, CpuImprovesWeakNoise) {
  const FrameFormat format{
      .width = 64, .height = 56, .sample = SampleType::f32, .bits = 32, .white = 255};
  const Plane<float> clean = texture_picture(format.width, format.height);
  for (const float weak : {0.001f, 0.003f, 0.01f, 0.03f, 0.1f, 0.3f, 1.0f}) {
    std::vector<Frame> frames;
    for (int n = 0; n < 3; ++n) {
      frames.push_back(make_frame(format));
      store_plane(with_noise(clean.view(), weak, n + 1).view(), frames.back(), 0);
      frames.back().pts = n;
    }
    Params params = make_params(Profile::best, {weak, 0, 0}, 1);
    params.linear_combinations = false;
    const std::vector<Frame> result =
        run_clip(*open(params, format, {.kind = BackendKind::cpu, .threads = 2}), frames);
    for (std::size_t n = 0; n < frames.size(); ++n)
      EXPECT_GT(psnr(plane_of(result[n], 0).view(), clean.view()),
                psnr(plane_of(frames[n], 0).view(), clean.view()))
          << "sigma " << weak << ", frame " << n;
  }
}

TEST(Bayes, MatchesReferenceOnShakyClip) {
  const FrameFormat format{.width = 64, .height = 56};
  const std::vector<Frame> frames = noisy_shake(format, 4);
  const auto run = [&](BackendKind kind) {
    return run_clip(*open(small_best(2), format, {.kind = kind, .threads = 2}), frames);
  };
  const std::vector<Frame> expected = run(BackendKind::reference), result = run(BackendKind::cpu);
  for (std::size_t n = 0; n < frames.size(); ++n)
    EXPECT_GT(psnr(plane_of(result[n], 0).view(), plane_of(expected[n], 0).view()), 50) << n;
}

TEST(Bayes, ThreadCountDoesNotChangeResult) {
  const std::vector<Frame> frames = noisy_shake({.width = 70, .height = 50}, 4);
  const auto run = [&](int threads) {
    return run_clip(*open(small_best(2), frames[0].format, {.threads = threads}), frames);
  };
  const std::vector<Frame> one = run(1), three = run(3);
  for (std::size_t n = 0; n < frames.size(); ++n) EXPECT_TRUE(same_samples(one[n], three[n]));
}

TEST(Bayes, KeepsFlatPictures) {
  const FrameFormat format{.width = 40, .height = 30, .sample = SampleType::f32, .bits = 32};
  for (const float level : {0.0f, 77.5f, 255.0f}) {
    Plane<float> flat(40, 30);
    for (int y = 0; y < 30; ++y) std::fill_n(flat.view().row(y), 40, level);
    std::vector<Frame> frames;
    for (int n = 0; n < 3; ++n) {
      frames.push_back(make_frame(format));
      store_plane(flat.view(), frames.back(), 0);
      frames.back().pts = n;
    }
    for (const Frame& frame : run_clip(*open(small_best(1), format, {}), frames))
      for (int x = 0; x < 40; ++x) EXPECT_NEAR(plane_of(frame, 0).view()(x, 20), level, 1e-2);
  }
}

TEST(Bayes, CpuFiltersPicturesWiderThan16Bits) {
  const FrameFormat format{.width = 33000, .height = 10};
  const std::vector<Frame> frames = noisy_pan(format, 2);
  Params params = small_best(1);
  ASSERT_TRUE(params.bayes);
  params.phases = 2;  // a single Bayes phase, with little work for each group
  params.bayes_phases[0].group = 32;
  params.bayes_phases[0].sharpenings = 0;
  const auto sum_of_squares = [](const Frame& frame, const Plane<float>& clean) {
    const Plane<float> samples = plane_of(frame, 0);
    double sum = 0;
    for (int y = 0; y < clean.height(); ++y)
      for (int x = 0; x < clean.width(); ++x) {
        const double error = static_cast<double>(samples.view()(32800 + x, y)) -
                             static_cast<double>(clean.view()(x, y));
        sum += error * error;
      }
    return sum;
  };
  const Plane<float> whole = texture_picture(format.width + 40, format.height + 20, 0);
  Plane<float> clean(format.width - 32800, format.height);
  for (int y = 0; y < clean.height(); ++y)
    std::copy_n(whole.view().row(y) + 32800, clean.width(), clean.view().row(y));
  const Frame result = run_clip(*open(params, format, {.threads = 2}), frames)[0];
  EXPECT_LT(sum_of_squares(result, clean), sum_of_squares(frames[0], clean));
}

std::string refusal(const Params& params) {
  try {
    validate(params);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST(Bayes, IsUsedOnlyOverTimeAndForWhiteNoise) {
  EXPECT_TRUE(make_params(Profile::best, {20, 20, 20}, 1).bayes);
  Params bayes = make_params(Profile::best, {20, 20, 20}, 2);
  EXPECT_EQ(margin(bayes).after, 16) << "linear combinations, unless a parameter is changed";
  bayes.linear_combinations = false;
  EXPECT_EQ(margin(bayes).after, 12);
  const Params still = make_params(Profile::best, {20, 20, 20});
  EXPECT_FALSE(still.bayes);
  EXPECT_EQ(still.phases, 2);
  EXPECT_EQ(still.wiener.step, make_params(Profile::high, {20, 20, 20}).wiener.step);
  NoiseModel coarse(std::array<float, 3>{20, 20, 20});
  auto correlation = std::make_shared<Autocorrelation>();
  (*correlation)[lag_index(0, 0)] = 1;
  (*correlation)[lag_index(1, 0)] = (*correlation)[lag_index(-1, 0)] = 0.4f;
  coarse.plane(0).correlation = correlation;
  EXPECT_FALSE(make_params(Profile::best, coarse, 2).bayes) << "as high";

  Params params = small_best(2);
  EXPECT_EQ(refusal(params), "");
  params.noise = coarse;
  EXPECT_NE(refusal(params).find("not white"), std::string::npos);
  params = small_best(2);
  params.temporal = 0;
  EXPECT_NE(refusal(params).find("without neighbouring frames"), std::string::npos);
  params = small_best(2);
  params.bayes_phases[0].group = 48;
  EXPECT_NE(refusal(params).find("group of a Bayes phase = 48"), std::string::npos);
  params = small_best(2);
  params.bayes_phases[1].group = 64;
  EXPECT_NE(refusal(params).find("second Bayes phase = 64 (must be 32)"), std::string::npos);
  params = small_best(2);
  params.bayes_phases[1].sharpenings = 1;
  EXPECT_NE(refusal(params).find("sharpenings of the second Bayes phase"), std::string::npos);
  params = small_best(2);
  params.phases = 4;
  EXPECT_NE(refusal(params).find("phases = 4"), std::string::npos);
}

}  // namespace
}  // namespace lull::bm3d
