// Tests the filter parameters that result from a profile and the options.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/given.h"

namespace lull::tools {
namespace {

TEST(FilterOptions, DefaultsComeFromTheProfile) {
  const bm3d::Params expected = bm3d::make_params(bm3d::Profile::balanced, {20, 20, 20});
  const bm3d::Params params = params_of(minimal());
  EXPECT_EQ(params.hard.window, expected.hard.window);
  EXPECT_EQ(params.wiener.group, expected.wiener.group);
  EXPECT_EQ(params.lambda, expected.lambda);
}

TEST(FilterOptions, OverridesApplyToBothPhasesOrEach) {
  DenoiseOptions options = minimal();
  apply(options, "--window", "21");
  apply(options, "--group", "8:32");
  apply(options, "--step", "5:4");
  apply(options, "--tau", "1000:300.5");
  apply(options, "--transform", "bior:dct");
  apply(options, "--group-transform", "wht:haar");
  apply(options, "--kaiser", "1.5");
  apply(options, "--lambda", "2.5");
  apply(options, "--mu2", "0.25");
  apply(options, "--phases", "1");
  apply(options, "--batch", "64x32");
  apply(options, "--profile", "paper");  // earlier options still take precedence
  const bm3d::Params p = params_of(options);
  EXPECT_EQ(p.hard.window, 21);
  EXPECT_EQ(p.wiener.window, 21);
  EXPECT_EQ(p.hard.group, 8);
  EXPECT_EQ(p.wiener.group, 32);
  EXPECT_EQ(p.hard.step, 5);
  EXPECT_EQ(p.wiener.step, 4);
  EXPECT_EQ(p.hard.tau, 1000);
  EXPECT_EQ(p.wiener.tau, 300.5);
  EXPECT_EQ(p.hard.transform, bm3d::Transform::bior);
  EXPECT_EQ(p.wiener.transform, bm3d::Transform::dct);
  EXPECT_EQ(p.hard.group_transform, bm3d::GroupTransform::wht);
  EXPECT_EQ(p.wiener.group_transform, bm3d::GroupTransform::haar);
  EXPECT_EQ(p.hard.kaiser, 1.5);
  EXPECT_EQ(p.lambda, 2.5);
  EXPECT_EQ(p.mu2, 0.25);
  EXPECT_EQ(p.phases, 1);
  EXPECT_EQ(p.batch.width, 64);
  EXPECT_EQ(p.batch.height, 32);
}

TEST(FilterOptions, SecondSearchDependsOnProfileAndOptions) {
  using Given = std::vector<std::pair<const char*, const char*>>;
  const auto params = [](const Given& given) {
    DenoiseOptions options = minimal();
    for (const auto& [name, value] : given) apply(options, name, value);
    check(options);
    return params_of(options, options.method.temporal.value_or(0));
  };
  // Returns the value of --second-search that corresponds to the parameters.
  const auto second = [&](Given given, const char* name, const char* value) {
    given.emplace_back(name, value);
    const bm3d::Params p = params(given);
    constexpr const char* how[] = {"kept", "luma", "none"};
    return p.kept == 0 ? "window" : how[static_cast<int>(p.same_groups)];
  };
  EXPECT_STREQ(second({}, "--profile", "balanced"), "luma");
  EXPECT_STREQ(second({}, "--profile", "high"), "window");
  const Given fast{{"--profile", "fast"}}, balanced{{"--profile", "balanced"}};
  EXPECT_STREQ(second(fast, "--sigma", "60"), "none");
  EXPECT_STREQ(second(balanced, "--sigma", "26"), "kept");
  EXPECT_STREQ(second(balanced, "--strength", "2"), "kept");
  for (const Given& profile : {fast, balanced}) {
    const char* const usual = profile == fast ? "none" : "luma";
    for (const char* same : {"--step", "--group"})
      EXPECT_STREQ(second(profile, same, "4"), usual) << same;
    EXPECT_STREQ(second(profile, "--window", "39"), usual);
    EXPECT_STREQ(second(profile, "--step", "5:4"), "kept");
    EXPECT_STREQ(second(profile, "--window", "25:19"), "kept");
    EXPECT_STREQ(second(profile, "--temporal", "2"), "kept");
    EXPECT_STREQ(second(profile, "--matcher", "cluster"), "window");
    EXPECT_STREQ(second(profile, "--matcher", "window:cluster"), "window");
    EXPECT_STREQ(second(profile, "--guide", "c.png"), "window");
    for (const char* how : {"window", "kept", "luma", "none"})
      EXPECT_STREQ(second(profile, "--second-search", how), how);
  }
  EXPECT_STREQ(second({{"--profile", "best"}}, "--temporal", "4"), "kept");
  const Given none{{"--second-search", "none"}}, kept{{"--second-search", "kept"}};
  for (const auto& [name, value] : Given{{"--step", "5:4"}, {"--profile", "high"}})
    EXPECT_THROW((void)second(none, name, value), InvalidArgument) << name;
  for (const auto& [name, value] : Given{{"--matcher", "cluster"}, {"--guide", "c.png"}})
    EXPECT_THROW((void)second(kept, name, value), InvalidArgument) << name;
}

TEST(FilterOptions, SearchStepDependsOnProfileAndOptions) {
  const auto step = [](const char* name, const char* value, const char* search_step) {
    DenoiseOptions options = minimal();
    if (*search_step != '\0') apply(options, "--search-step", search_step);
    apply(options, "--profile", "high");
    apply(options, name, value);
    check(options);
    return params_of(options, options.method.temporal.value_or(0)).search_step;
  };
  EXPECT_EQ(step("--sigma", "20", ""), 0);
  EXPECT_EQ(step("--temporal", "2", ""), 4);
  EXPECT_EQ(step("--sigma", "20", "6"), 6);
  EXPECT_EQ(step("--step", "4", "4"), 0) << "all are so far apart";
  EXPECT_THROW((void)step("--guide", "c.png", "6"), InvalidArgument);
  EXPECT_THROW((void)step("--sigma", "20", "17"), InvalidArgument);
}

TEST(FilterOptions, TemporalRadiusDependsOnTheInput) {
  io::VideoInfo video, still, volume;
  still.still = true;
  volume.stack = true;
  DenoiseOptions options = minimal();
  EXPECT_EQ(temporal_radius(options, video), 2);
  EXPECT_EQ(temporal_radius(options, still), 0);
  EXPECT_EQ(temporal_radius(options, volume), 0);
  apply(options, "--profile", "high");
  EXPECT_EQ(temporal_radius(options, video), 2);
  for (const char* profile : {"fast", "paper"}) {
    apply(options, "--profile", profile);
    EXPECT_EQ(temporal_radius(options, video), 0);
  }
  apply(options, "--temporal", "4");
  EXPECT_EQ(temporal_radius(options, still), 4);
  apply(options, "--interlaced", "fields");
  EXPECT_EQ(temporal_radius(options, video), 4);
  apply(options, "--temporal", "auto");
  EXPECT_EQ(temporal_radius(options, video), 0);
  apply(options, "--profile", "balanced");
  EXPECT_EQ(temporal_radius(options, video), 2);
  for (const char* bad : {"9", "-1", "two", ""})
    EXPECT_THROW(apply(options, "--temporal", bad), InvalidArgument) << bad;
}

TEST(FilterOptions, BestProfileCombinesPatchesUnlessPhasesAreChanged) {
  const auto combines = [](const std::vector<std::pair<std::string, std::string>>& given,
                           int temporal = 0) {
    DenoiseOptions options = minimal();
    apply(options, "--profile", "best");
    for (const auto& [option, value] : given) apply(options, option, value);
    return make_params(options, given_noise(options.noise), temporal).linear_combinations;
  };
  EXPECT_TRUE(combines({}));
  EXPECT_TRUE(combines({{"--batch", "512x512"}}));
  EXPECT_TRUE(combines({{"--scene-cut", "0.3"}}));
  EXPECT_TRUE(combines({}, 2));
  EXPECT_TRUE(combines({{"--phases", "2"}}, 2));
  EXPECT_TRUE(combines({{"--phases", "3"}}, 2)) << "the value of earlier versions";
  EXPECT_TRUE(combines({{"--guide", "guide.png"}}));
  EXPECT_FALSE(combines({{"--guide", "guide.png"}}, 2));
  EXPECT_TRUE(combines({{"--depth", ""}, {"--sigma", "10"}}));
  EXPECT_FALSE(combines({{"--depth", ""}, {"--sigma", "10"}}, 2));
  EXPECT_FALSE(combines({{"--depth", ""}, {"--sigma", "20"}})) << "strong noise";
  for (const auto& [option, value] : {std::pair{"--window", "19"},
                                      {"--group", "4"},
                                      {"--mu2", "1"},
                                      {"--lambda", "2"},
                                      {"--phases", "1"},
                                      {"--matcher", "cluster"}})
    for (const int temporal : {0, 2})
      EXPECT_FALSE(combines({{option, value}}, temporal)) << option << ", R = " << temporal;
  EXPECT_FALSE(combines({{"--second-search", "kept"}}));
  EXPECT_FALSE(combines({{"--second-search", "window"}}, 2));
}

TEST(FilterOptions, BestProfileIsTemporal) {
  io::VideoInfo video;
  DenoiseOptions options = minimal();
  apply(options, "--profile", "best");
  EXPECT_TRUE(may_be_temporal(options));
  EXPECT_EQ(temporal_radius(options, video), 4);
}

// Phases have the parameters of the profile `high`, and every option of a phase applies to them.
TEST(FilterOptions, BestProfileHasThePhasesOfHighIfPhasesAreChanged) {
  using Given = std::vector<std::pair<std::string, std::string>>;
  for (const Given& given : {Given{{"--window", "21:15"}},
                             {{"--mu2", "0.5"}},
                             {{"--guide-noise", "0.3"}},
                             {{"--phases", "1"}},
                             {{"--matcher", "cluster"}},
                             {{"--guide", "guide.png"}},
                             {{"--depth", ""}}})
    for (const int temporal : {0, 2}) {
      const bool needs_single_frames = given[0].first == "--guide" || given[0].first == "--depth";
      if (needs_single_frames && temporal == 0) continue;
      const auto params = [&](const char* profile) {
        DenoiseOptions options = minimal();
        apply(options, "--profile", profile);
        for (const auto& [option, value] : given) apply(options, option, value);
        return make_params(options, given_noise(options.noise), temporal);
      };
      const bm3d::Params best = params("best"), high = params("high");
      SCOPED_TRACE(::testing::Message() << given[0].first << ", R = " << temporal);
      EXPECT_FALSE(best.linear_combinations);
      EXPECT_TRUE(best.hard == high.hard && best.wiener == high.wiener);
      EXPECT_EQ(best.lambda, high.lambda);
      EXPECT_EQ(best.lambda_mean, high.lambda_mean);
      EXPECT_EQ(best.mu2, high.mu2);
      EXPECT_EQ(best.guide_noise, high.guide_noise);
      EXPECT_EQ(best.guided, high.guided);
      EXPECT_EQ(best.holes, high.holes);
      EXPECT_EQ(best.search_step, high.search_step);
      EXPECT_EQ(best.kept, high.kept);
      EXPECT_EQ(best.same_groups, high.same_groups);
      EXPECT_EQ(best.phases, high.phases);
    }
}

TEST(FilterOptions, TemporalOptionsOverrideTheProfile) {
  DenoiseOptions options = minimal();
  const bm3d::Params own = params_of(options, 2);
  EXPECT_EQ(own.temporal, 2);
  EXPECT_GT(own.hard.motion_bias, 0);
  apply(options, "--temporal-window", "13:7");
  apply(options, "--place-bonus", "100:5");
  apply(options, "--scene-cut", "0.7");
  const bm3d::Params p = params_of(options, 2);
  EXPECT_EQ(p.hard.temporal_window, 13);
  EXPECT_EQ(p.wiener.temporal_window, 7);
  EXPECT_EQ(p.hard.motion_bias, 100);
  EXPECT_EQ(p.wiener.motion_bias, 5);
  EXPECT_EQ(p.scene_cut, 0.7f);
  apply(options, "--scene-cut", "off");
  EXPECT_EQ(params_of(options, 2).scene_cut, 0);
  for (const char* bad : {"0", "1.1", "on"})
    EXPECT_THROW(apply(options, "--scene-cut", bad), InvalidArgument) << bad;
  EXPECT_THROW(apply(options, "--keep", "-1"), InvalidArgument);
}

TEST(FilterOptions, MatcherCanBeChosenPerPhase) {
  const DenoiseOptions plain = minimal();
  EXPECT_FALSE(params_of(plain).hard.clusters);
  DenoiseOptions options = minimal();
  apply(options, "--matcher", "cluster");
  EXPECT_EQ(params_of(options).hard.clusters, ClusterParams{});
  EXPECT_EQ(params_of(options).wiener.clusters, ClusterParams{});
  apply(options, "--cluster", "15:32:1");
  // The options may have any order. The last option of each name counts.
  apply(options, "--matcher", "window:cluster");
  EXPECT_FALSE(params_of(options).hard.clusters);
  EXPECT_EQ(params_of(options).wiener.clusters, paper_clusters);
  check(options);
  apply(options, "--matcher", "window");
  EXPECT_THROW(check(options), InvalidArgument);

  DenoiseOptions alone = minimal();
  apply(alone, "--cluster", "paper");
  EXPECT_EQ(params_of(alone).hard.clusters, paper_clusters);
  check(alone);
  for (const char* bad : {"", "wall", "window:cluster:window", "cluster:"})
    EXPECT_THROW(apply(alone, "--matcher", bad), InvalidArgument) << bad;
  for (const char* bad : {"", "32", "32:48", "32:48:2:1", "32x48x2", "Paper"})
    EXPECT_THROW(apply(alone, "--cluster", bad), InvalidArgument) << bad;
  for (const char* out : {"7:48:2", "32:200:2", "32:48:5"}) {
    DenoiseOptions one = minimal();
    apply(one, "--cluster", out);
    EXPECT_THROW(check(one), InvalidArgument) << out;
  }
  DenoiseOptions cubes = minimal();
  apply(cubes, "--matcher", "cluster");
  apply(cubes, "--method", "bm4d");
  EXPECT_THROW(check(cubes), InvalidArgument);
}

TEST(FilterOptions, NlmWithClusterMatcherAveragesGroups) {
  const auto with = [](const std::vector<std::pair<std::string, std::string>>& given) {
    DenoiseOptions options = minimal();
    apply(options, "--method", "nlm");
    for (const auto& [name, value] : given) apply(options, name, value);
    return options;
  };
  const NoiseModel noise({20, 20, 20});
  const DenoiseOptions options = with({{"--cluster", "paper"},
                                       {"--nlm-h", "0.7"},
                                       {"--strength", "2"},
                                       {"--scene-cut", "off"},
                                       {"--batch", "64x32"}});
  check(options);
  EXPECT_TRUE(averages_groups(options.method));
  const bm3d::Params params = make_means_params(options, noise, 2);
  EXPECT_EQ(params.means->h, 0.7f);
  EXPECT_EQ(params.hard.clusters, paper_clusters);
  EXPECT_EQ(params.noise.sigma(0), 40);
  EXPECT_EQ(params.scene_cut, 0);
  EXPECT_EQ(params.batch.width, 64);
  EXPECT_EQ(params.temporal, 2);
  EXPECT_EQ(params.phases, 1);
  check(with({{"--matcher", "cluster"}}));
  EXPECT_FALSE(averages_groups((with({})).method));
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"--search-radius", "3"},
                                                        {"--patch-radius", "1"},
                                                        {"--weights", "exp"},
                                                        {"--guide", "c.png"},
                                                        {"--guide", "auto"},
                                                        {"--feature", "albedo=:a"},
                                                        {"--step", "2"},
                                                        {"--nlm-h", "0"}})
    EXPECT_THROW(check(with({{"--matcher", "cluster"}, {name, value}})), InvalidArgument) << name;
  for (const char* flag : {"--stack", "--depth"})
    EXPECT_THROW(check(with({{"--matcher", "cluster"}, {flag, ""}})), InvalidArgument) << flag;
  check(with({{"--matcher", "window"}}));
  for (const char* mixed : {"window:cluster", "cluster:window"})
    EXPECT_THROW(check(with({{"--matcher", mixed}})), InvalidArgument) << mixed;
}

}  // namespace
}  // namespace lull::tools
