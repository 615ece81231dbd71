// Tests the averaging of groups (bm3d/group_means.h): the formulas, and sessions on every backend.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bm3d/each_backend.h"
#include "bm3d/group_means.h"
#include "bm3d/pans.h"
#include "bm3d/reference/stages.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

constexpr float sigma = pan_sigma;

// ---- formulas ------------------------------------------------------------------------------

TEST(MeansFormulas, WeightsFallAboveTheDistanceThatNoiseCauses) {
  const MeansCurve curve({.h = 0.5f});  // zero at 2 + 8 h^2 = 4
  for (const double distance : {0.0, 1.0, 2.0}) EXPECT_EQ(curve(distance), 1) << distance;
  EXPECT_NEAR(curve(3.0), 1.0 / 256, 1e-9);
  EXPECT_NEAR(curve(3.0f), 1.0f / 256, 1e-6f);
  for (const double distance : {4.0, 5.0, 1e9}) EXPECT_EQ(curve(distance), 0) << distance;
}

GroupStack<double> stack_of(std::initializer_list<double> levels) {
  GroupStack<double> stack;
  for (const double level : levels) stack.emplace_back().fill(level);
  return stack;
}

TEST(MeansFormulas, DistancesAreRelativeToTheNoiseOfAllPlanes) {
  const MeansCurve curve({.h = 0.5f});
  // At a sigma of 2, differences of 6 are 9 variances: the distance is 9 with one plane and 4.5
  // with a second, equal plane.
  const std::vector<GroupStack<double>> one{stack_of({10, 10, 16, 13})},
      two{stack_of({10, 10, 16, 13}), stack_of({50, 50, 50, 50})};
  const std::vector<double> sigmas{2, 7};
  const auto alone = means_weights(one, std::span(sigmas).first(1), curve);
  EXPECT_EQ(alone[0], 1);
  EXPECT_EQ(alone[1], 1);
  EXPECT_EQ(alone[2], 0);
  EXPECT_NEAR(alone[3], curve(2.25), 1e-12);
  const auto both = means_weights(two, sigmas, curve);
  EXPECT_EQ(both[2], 0);
  EXPECT_NEAR(both[3], curve(1.125), 1e-12);
}

TEST(MeansFormulas, MeanIsWeighted) {
  const PatchValues<double> mean =
      weighted_mean(stack_of({10, 20, 40}), std::vector<double>{1, 0.5, 0});
  EXPECT_NEAR(mean[0], 20.0 / 1.5, 1e-12);
  EXPECT_NEAR(mean[63], 20.0 / 1.5, 1e-12);
}

// ---- parameters ----------------------------------------------------------------------------

TEST(MeansParameters, RejectIncompatibleCombinations) {
  const FrameFormat format = gray(40, 32);
  const auto refused = [&](auto change) {
    Params params = make_means_params(Profile::balanced, NoiseModel({sigma, sigma, sigma}));
    change(params);
    EXPECT_THROW((void)open(params, format, {.kind = BackendKind::cpu}), InvalidArgument);
  };
  refused([](Params& p) { p.phases = 2; });
  refused([](Params& p) { p.guided = true; });
  refused([](Params& p) { p.holes = true, p.hard.clusters.reset(); });
  for (const float h : {0.0f, -1.0f, std::numeric_limits<float>::infinity()})
    refused([=](Params& p) { p.means->h = h; });
}

// ---- sessions ------------------------------------------------------------------------------

Params params_of(const NoiseModel& noise, int temporal = 0, Profile profile = Profile::fast) {
  return make_means_params(profile, noise, temporal);
}
const NoiseModel equal_noise({sigma, sigma, sigma});

class GroupMeans : public EachBackend {
 protected:
  std::vector<Frame> run(const Params& params, const std::vector<Frame>& clip) const {
    return run_clip(*open(params, clip[0].format, backend_), clip);
  }
  std::vector<Frame> expected(const Params& params, const std::vector<Frame>& clip) const {
    return run_clip(*open(params, clip[0].format, {.kind = BackendKind::reference}), clip);
  }
  /// A GPU rounds the samples in which groups are matched slightly differently.
  double min_psnr() const { return backend_.kind == BackendKind::cuda ? 45 : 60; }
};

INSTANTIATE_TEST_SUITE_P(Bm3d, GroupMeans, ::testing::Values(BackendKind::cpu, BackendKind::cuda),
                         name_of_backend);

double psnr_of(const std::vector<Frame>& clip, int plane = 0) {
  double sum = 0;
  for (std::size_t n = 0; n < clip.size(); ++n)
    sum += psnr(plane_of(clip[n], plane).view(),
                clean_plane(clip[n].format, static_cast<int>(n), plane).view());
  return sum / static_cast<double>(clip.size());
}

constexpr SampleType floats = SampleType::f32;

TEST_P(GroupMeans, AgreesWithTheReference) {
  for (const FrameFormat& format : {gray(90, 71, floats, 32), rgb(61, 50, floats, 32),
                                    yuv(83, 62, 1, 1, floats, 32), yuv(47, 39, 0, 0, floats, 32)}) {
    const Params params = params_of(NoiseModel({sigma, 15, 25}));
    const std::vector<Frame> clip = pan(format, 1);
    const auto actual = run(params, clip), by_reference = expected(params, clip);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_GT(psnr(plane_of(actual[0], i).view(), plane_of(by_reference[0], i).view()),
                min_psnr())
          << "layout " << int(format.layout) << ", plane " << i;
  }
}

TEST_P(GroupMeans, AgreesWithTheReferenceOverTime) {
  for (const FrameFormat& format : {gray(70, 54, floats, 32), yuv(66, 50, 1, 1, floats, 32)}) {
    const Params params = params_of(equal_noise, 1);
    const std::vector<Frame> clip = pan(format, 4);
    const auto actual = run(params, clip), by_reference = expected(params, clip);
    ASSERT_EQ(actual.size(), clip.size());
    for (std::size_t n = 0; n < clip.size(); ++n)
      for (int i = 0; i < format.planes(); ++i)
        EXPECT_GT(psnr(plane_of(actual[n], i).view(), plane_of(by_reference[n], i).view()),
                  min_psnr())
            << "frame " << n << ", plane " << i;
  }
}

TEST_P(GroupMeans, AgreesWithTheReferenceAtExtremeParameters) {
  const std::vector<Frame> clip = pan(gray(58, 49, floats, 32), 1);
  for (const int step : {1, 8})
    for (const int group : {1, 32})
      for (const float kaiser : {0.0f, 4.0f})
        for (const bool clusters : {true, false}) {
          Params params = params_of(equal_noise);
          params.hard.step = step, params.hard.group = group, params.hard.kaiser = kaiser;
          params.hard.window = 13;
          params.batch = {32, 16};
          if (!clusters) params.hard.clusters.reset();
          EXPECT_GT(psnr(plane_of(run(params, clip)[0], 0).view(),
                         plane_of(expected(params, clip)[0], 0).view()),
                    // Window matching compares samples of less than 8 bits (match/guide.h).
                    clusters ? min_psnr() : 40)
              << step << " " << group << " " << kaiser << " " << clusters;
        }
}

TEST_P(GroupMeans, RemovesNoise) {
  for (const FrameFormat& format : {gray(112, 96), rgb(96, 80), yuv(112, 96, 1, 1)}) {
    const std::vector<Frame> clip = pan(format, 1);
    for (const Profile profile : {Profile::fast, Profile::high, Profile::paper}) {
      const auto result = run(params_of(equal_noise, 0, profile), clip);
      for (int i = 0; i < format.planes(); ++i)
        EXPECT_GT(psnr_of(result, i), psnr_of(clip, i) + 4)
            << "layout " << int(format.layout) << ", plane " << i;
    }
  }
}

TEST_P(GroupMeans, TemporalFilteringImprovesQuality) {
  const std::vector<Frame> clip = pan(gray(112, 96), 6);
  EXPECT_GT(psnr_of(run(params_of(equal_noise, 2), clip)),
            psnr_of(run(params_of(equal_noise), clip)) + 0.7);
}

TEST_P(GroupMeans, ThreadsAndStreamsDoNotChangeResult) {
  for (const int temporal : {0, 1}) {
    const std::vector<Frame> clip = pan(yuv(99, 70, 1, 1), 4);
    const auto first = run(params_of(equal_noise, temporal), clip);
    for (const int count : {1, 3}) {
      backend_.threads = backend_.streams = count;
      const auto again = run(params_of(equal_noise, temporal), clip);
      for (std::size_t n = 0; n < clip.size(); ++n)
        EXPECT_TRUE(same_samples(first[n], again[n])) << "frame " << n << ", " << count;
    }
  }
}

TEST_P(GroupMeans, LeavesPlanesWithoutNoiseUnchanged) {
  const std::vector<Frame> clip = pan(yuv(64, 48, 1, 1), 1);
  const auto result = run(params_of(NoiseModel({sigma, 0, sigma})), clip);
  EXPECT_FALSE(same_plane(result[0], clip[0], 0));
  EXPECT_TRUE(same_plane(result[0], clip[0], 1));
  EXPECT_FALSE(same_plane(result[0], clip[0], 2));
}

TEST_P(GroupMeans, KeepsFlatPictures) {
  Frame frame = make_frame(gray(50, 40));
  Plane<float> flat(50, 40);
  for (int y = 0; y < 40; ++y) std::fill_n(flat.view().row(y), 50, 77.0f);
  store_plane(flat.view(), frame, 0);
  EXPECT_TRUE(same_samples(run(params_of(equal_noise), {frame})[0], frame));
}

}  // namespace
}  // namespace lull::bm3d
