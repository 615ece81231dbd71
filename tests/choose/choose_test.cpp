// Tests the opening of sessions by name: each name opens the session that it denotes, and unknown
// names are rejected with a one-line message.

#include "choose/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/frame_pool.h"
#include "cuda/device_list.h"
#include "nlm/params.h"
#include "support/pictures.h"

namespace lull {
namespace {

using namespace lull::test_support;
using ::testing::HasSubstr;

const FrameFormat grey{.width = 48, .height = 40};

SessionChoice cpu_choice() { return {.device = "cpu", .noise = NoiseModel({20, 20, 20})}; }

std::string refusal(const SessionChoice& choice) {
  try {
    (void)open_chosen(choice, grey);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Choose, OpensBm3dWithEveryProfile) {
  for (const char* profile : {"fast", "balanced", "high", "paper"}) {
    SessionChoice choice = cpu_choice();
    choice.profile = profile;
    choice.temporal = 1;
    const ChosenSession chosen = open_chosen(choice, grey);
    EXPECT_EQ(chosen.margin, bm3d::margin(bm3d::make_params(bm3d::Profile::fast, choice.noise, 1)));
    EXPECT_EQ(device_name(chosen.backend), "cpu");
  }
  SessionChoice best = cpu_choice();
  best.profile = "best";
  best.temporal = 1;
  EXPECT_EQ(open_chosen(best, grey).margin.after, 8) << "a pilot and three iterations";
}

TEST(Choose, SessionsHaveAsManyFramesInFlightAsBackends) {
  EXPECT_EQ(SessionChoice{}.streams, bm3d::Backend{}.streams);
  EXPECT_EQ(choose_backend("cpu").streams, bm3d::Backend{}.streams);
}

TEST(Choose, OpensVolumes) {
  SessionChoice choice = cpu_choice();
  choice.method = "bm4d";
  choice.volume_noise = VolumeNoise{.kind = NoiseKind::rician, .sigma = 20, .zero = 0, .map = {}};
  const ChosenSession chosen = open_chosen(choice, grey);
  EXPECT_EQ(chosen.margin, bm4d::margin(bm4d::make_params(bm4d::Profile::balanced, choice.noise)));
}

TEST(Choose, OpensNonLocalMeans) {
  SessionChoice choice = cpu_choice();
  choice.method = "nlm", choice.temporal = 1;
  EXPECT_EQ(open_chosen(choice, grey).margin,
            nlm::margin(nlm::make_params(nlm::Profile::balanced, choice.noise, 1)));
  choice.method = "nlm_volumes";
  EXPECT_THAT(refusal(choice), HasSubstr("temporal = 1 with the method nlm_volumes"));
  choice.temporal = 0;
  EXPECT_EQ(open_chosen(choice, grey).margin,
            nlm::margin(nlm::make_volume_params(nlm::Profile::balanced, choice.noise)));
}

TEST(Choose, OpensARepeatFinderForEachMethodOfClips) {
  FramePool pool(grey);
  const Frame frame = pool.acquire();
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x)
      frame.plane<std::uint8_t>(0)(x, y) = static_cast<std::uint8_t>(37 * x + 11 * y * y);
  for (const char* method : {"bm3d", "nlm"})
    for (const char* matcher : {"window", "cluster"}) {
      SessionChoice choice = cpu_choice();
      choice.method = method, choice.matcher = matcher, choice.temporal = 1;
      const std::unique_ptr<RepeatFinder> finder = open_repeat_finder(choice, grey);
      ASSERT_TRUE(finder) << method << matcher;
      EXPECT_EQ(finder->find(frame), RepeatState::independent) << method << matcher;
      EXPECT_EQ(finder->find(frame), RepeatState::repeats) << method << matcher;
    }
}

TEST(Choose, SelectsTheMatcherOfBm3d) {
  SessionChoice choice = cpu_choice();
  choice.adjust = [](bm3d::Params& params) {
    EXPECT_EQ(params.hard.clusters, paper_clusters);
    EXPECT_EQ(params.wiener.clusters, paper_clusters);
  };
  choice.matcher = "cluster", choice.clusters = "paper";
  EXPECT_TRUE(open_chosen(choice, grey).denoiser);
  choice.adjust = {};
  choice.clusters = "paper:1";
  EXPECT_THAT(refusal(choice), HasSubstr("cluster = 'paper:1' (must be TILE:LEAF:TILINGS"));
  choice.clusters = "15:32:9";
  EXPECT_THAT(refusal(choice), HasSubstr("tilings of the clusters of the first phase = 9"));
  choice.clusters = "";
  for (const char* method : {"bm4d", "nlm_volumes"}) {
    choice.method = method;
    EXPECT_THAT(refusal(choice), HasSubstr("bm3d and nlm of pictures have matchers"));
  }
  choice.method = "bm3d", choice.matcher = "tree";
  EXPECT_THAT(refusal(choice), HasSubstr("matcher = 'tree' (must be window or cluster)"));
  choice.matcher = "window", choice.clusters = "paper";
  EXPECT_THAT(refusal(choice), HasSubstr("only the matcher cluster has this parameter"));
}

TEST(Choose, NlmWithClusterMatcherAveragesGroups) {
  SessionChoice choice = cpu_choice();
  choice.method = "nlm", choice.matcher = "cluster", choice.temporal = 2;
  EXPECT_EQ(open_chosen(choice, grey).margin,
            bm3d::margin(bm3d::make_means_params(bm3d::Profile::balanced, choice.noise, 2)));
  choice.clusters = "paper", choice.profile = "paper";
  EXPECT_TRUE(open_chosen(choice, grey).denoiser);
  choice.profile = "best";
  EXPECT_THAT(refusal(choice), HasSubstr("profile = 'best' (must be fast, balanced, high or pap"));
  choice.profile = "fast", choice.matcher = "window";
  EXPECT_THAT(refusal(choice), HasSubstr("only the matcher cluster has this parameter"));
  choice.matcher = "tree";
  EXPECT_THAT(refusal(choice), HasSubstr("matcher = 'tree' (must be window or cluster)"));
  choice.matcher = "cluster", choice.guided = true;
  EXPECT_THAT(refusal(choice), HasSubstr("a guide with means over groups"));
  choice.guided = false;
  choice.depth = DepthScale{.span = 4, .sigma = 0.1};
  EXPECT_THAT(refusal(choice), HasSubstr("the matcher cluster does not support holes"));
  choice.depth.reset();
  choice.render = RenderNoise{.sigma = 10};
  EXPECT_THAT(refusal(choice), HasSubstr("a matcher for the method nlm"));
}

TEST(Choose, AdjustsParameters) {
  SessionChoice choice = cpu_choice();
  choice.adjust = [](bm3d::Params& params) { params.hard.step = 99; };
  EXPECT_THAT(refusal(choice), HasSubstr("step of the first phase = 99"));
}

// Profiles that do not search in the second phase get a search where the parameters require one.
TEST(Choose, SearchesInTheSecondPhaseWhereNeeded) {
  for (const char* profile : {"fast", "balanced"}) {
    SessionChoice choice = cpu_choice();
    choice.profile = profile;
    choice.adjust = [](bm3d::Params& params) {
      EXPECT_EQ(params.kept, bm3d::default_kept);
      params.hard.step = 3;
    };
    EXPECT_TRUE(open_chosen(choice, grey).denoiser) << profile;
    choice.adjust = {};
    choice.matcher = "cluster";
    EXPECT_TRUE(open_chosen(choice, grey).denoiser) << profile;
    choice.matcher = "window", choice.guided = true;
    EXPECT_TRUE(open_chosen(choice, grey).denoiser) << profile;
  }
}

TEST(Choose, OpensRendersAndDepthMaps) {
  FrameFormat floats = grey;
  floats.sample = SampleType::f32, floats.bits = 32;
  for (const char* method : {"nlm", "bm3d"}) {
    SessionChoice render = cpu_choice();
    render.method = method, render.render = RenderNoise{.sigma = 10};
    EXPECT_TRUE(open_chosen(render, floats).denoiser) << method;
    SessionChoice depth = cpu_choice();
    depth.method = method, depth.depth = DepthScale{.span = 4, .sigma = 0.1};
    EXPECT_TRUE(open_chosen(depth, floats).denoiser) << method;
  }
  SessionChoice both = cpu_choice();
  both.render = RenderNoise{};
  both.method = "bm4d";
  EXPECT_THAT(refusal(both), HasSubstr("the method bm4d with a render"));
  both.method = "bm3d", both.guided = true;
  EXPECT_THAT(refusal(both), HasSubstr("a guide with a render"));
  both.guided = false, both.results_on_device = true;
  EXPECT_THAT(refusal(both), HasSubstr("results on a GPU with a render"));
  both.depth = DepthScale{};
  EXPECT_THAT(refusal(both), HasSubstr("a depth map with a render"));
}

TEST(Choose, RejectsUnknownNames) {
  SessionChoice choice = cpu_choice();
  choice.method = "median";
  EXPECT_THAT(refusal(choice), HasSubstr("method = 'median'"));
  choice = cpu_choice();
  choice.profile = "finest";
  EXPECT_THAT(refusal(choice), HasSubstr("profile = 'finest'"));
  choice.method = "bm4d", choice.profile = "paper";
  EXPECT_THAT(refusal(choice), HasSubstr("profile of bm4d = 'paper'"));
  choice.profile = "fast", choice.temporal = 2;
  EXPECT_THAT(refusal(choice), HasSubstr("temporal = 2"));
  choice.temporal = 0, choice.results_on_device = true;
  EXPECT_THAT(refusal(choice), HasSubstr("in GPU memory"));
  for (const char* device : {"tpu", "cuda:", "cuda:-1", "cuda:1x", "CPU", ""}) {
    choice = cpu_choice();
    choice.device = device;
    EXPECT_THAT(refusal(choice), HasSubstr("device = '" + std::string(device) + "'"));
  }
}

TEST(Choose, RejectsGpusThatAreNotPresent) {
  EXPECT_THROW((void)choose_backend("cuda:999"), DeviceUnavailable);
  const bool has_gpu = !cuda::list_devices().devices.empty();
  EXPECT_EQ(device_name(choose_backend("auto")), has_gpu ? "cuda:0" : "cpu");
}

}  // namespace
}  // namespace lull
