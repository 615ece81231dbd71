#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/report/progress_line.h"

namespace lull::tools {
namespace {

void apply(DenoiseOptions& options, std::string_view name, const std::string& value) {
  for (const OptionRow& row : denoise_option_table())
    if (row.names == name || row.names.ends_with("," + std::string(name)))
      return row.apply(options, value);
  FAIL() << "no option " << name;
}

DenoiseOptions minimal() {
  DenoiseOptions options;
  apply(options, "--input", "a");
  apply(options, "--output", "b");
  apply(options, "--sigma", "20");
  return options;
}

bm3d::Params params_of(const DenoiseOptions& options, int temporal = 0) {
  return make_params(options, given_noise(options), temporal);
}

TEST(Options, EveryRowIsCompleteAndUnique) {
  std::set<std::string_view> names;
  for (const OptionRow& row : denoise_option_table()) {
    EXPECT_TRUE(names.insert(row.names).second) << row.names;
    EXPECT_FALSE(row.group.empty());
    EXPECT_FALSE(row.help.empty());
    EXPECT_NE(row.apply, nullptr);
  }
}

TEST(Options, TimesFitTheirNumbers) {
  DenoiseOptions options = minimal();
  apply(options, "--start", "1:02:03.25");
  EXPECT_EQ(options.source.selection.start_us, 3723250000);
  apply(options, "--start", "1099511627776");
  EXPECT_EQ(options.source.selection.start_us, 1099511627776000000);
  for (const char* beyond : {"1099511627777", "1099511627776:00", "1099511627776:59:59"})
    EXPECT_THROW(apply(options, "--start", beyond), InvalidArgument) << beyond;
}

TEST(Options, WhatIsSaidOfThemIsOneLine) {
  DenoiseOptions options;
  try {
    apply(options, "--sigma", "1\n2\x1b[2J");
    FAIL() << "that is no number";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "--sigma 1?2?[2J (must be auto, or a number from 0); see lull denoise --help-all");
  }
}

TEST(Options, ASingleSigmaIsForAllPlanes) {
  DenoiseOptions options = minimal();
  EXPECT_EQ(params_of(options).noise.sigmas(), (std::array<float, 3>{20, 20, 20}));
  apply(options, "--sigma", "12.5:6:0");
  EXPECT_EQ(params_of(options).noise.sigmas(), (std::array<float, 3>{12.5, 6, 0}));
}

TEST(Options, NoiseIsFoundUnlessSomebodySaysIt) {
  DenoiseOptions options = minimal();
  EXPECT_FALSE(finds_noise(options));
  apply(options, "--sigma", "auto");
  EXPECT_TRUE(finds_noise(options));
  check(options);
  apply(options, "--noise", "camera.json");
  EXPECT_FALSE(finds_noise(options));
  check(options);
  apply(options, "--sigma", "20");
  EXPECT_THROW(check(options), InvalidArgument);
  options = minimal();
  apply(options, "--sigma", "auto");
  apply(options, "--sigma-scale", "unit");
  EXPECT_THROW(check(options), InvalidArgument) << "nothing has that scale";
  EXPECT_THROW(apply(options, "--noise", ""), InvalidArgument);
}

TEST(Options, StrengthScalesTheNoise) {
  DenoiseOptions options = minimal();
  for (const auto& [text, factor] : {std::pair{"light", 0.7f}, {"medium", 1.0f}, {"2.5", 2.5f}}) {
    apply(options, "--strength", text);
    EXPECT_EQ(params_of(options).noise.sigmas()[0], 20 * factor) << text;
  }
  for (const char* bad : {"0", "-1", "nan", "11", "weak", ""})
    EXPECT_THROW(apply(options, "--strength", bad), InvalidArgument) << bad;
}

TEST(Options, DefaultsAreThoseOfTheProfile) {
  const bm3d::Params expected = bm3d::make_params(bm3d::Profile::balanced, {20, 20, 20});
  const bm3d::Params params = params_of(minimal());
  EXPECT_EQ(params.hard.window, expected.hard.window);
  EXPECT_EQ(params.wiener.group, expected.wiener.group);
  EXPECT_EQ(params.lambda, expected.lambda);
}

TEST(Options, OverridesApplyToBothPhasesOrEach) {
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
  apply(options, "--profile", "paper");  // after them: they still win
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

TEST(Options, TheSecondSearchSuitsWhatIsGiven) {
  using Given = std::vector<std::pair<const char*, const char*>>;
  const auto params = [](const Given& given) {
    DenoiseOptions options = minimal();
    for (const auto& [name, value] : given) apply(options, name, value);
    check(options);
    return params_of(options, options.temporal.value_or(0));
  };
  // window, kept or none, as --second-search has it.
  const auto second = [&](Given given, const char* name, const char* value) {
    given.emplace_back(name, value);
    const bm3d::Params p = params(given);
    return p.kept == 0 ? "window" : p.same_groups ? "none" : "kept";
  };
  EXPECT_STREQ(second({}, "--profile", "balanced"), "none");
  EXPECT_STREQ(second({}, "--profile", "high"), "window");
  const Given fast{{"--profile", "fast"}}, balanced{{"--profile", "balanced"}};
  EXPECT_STREQ(second(fast, "--sigma", "60"), "none");
  EXPECT_STREQ(second(balanced, "--sigma", "26"), "kept");
  EXPECT_STREQ(second(balanced, "--strength", "2"), "kept");
  for (const Given& profile : {fast, balanced}) {
    for (const char* same : {"--step", "--group"})
      EXPECT_STREQ(second(profile, same, "4"), "none") << same;
    EXPECT_STREQ(second(profile, "--window", "39"), "none");
    EXPECT_STREQ(second(profile, "--step", "5:4"), "kept");
    EXPECT_STREQ(second(profile, "--window", "25:19"), "kept");
    EXPECT_STREQ(second(profile, "--temporal", "2"), "kept");
    EXPECT_STREQ(second(profile, "--matcher", "cluster"), "window");
    EXPECT_STREQ(second(profile, "--matcher", "window:cluster"), "window");
    EXPECT_STREQ(second(profile, "--guide", "c.png"), "window");
    for (const char* how : {"window", "kept", "none"})
      EXPECT_STREQ(second(profile, "--second-search", how), how);
  }
  EXPECT_STREQ(second({{"--profile", "best"}}, "--temporal", "4"), "kept");
  const Given none{{"--second-search", "none"}}, kept{{"--second-search", "kept"}};
  for (const auto& [name, value] : Given{{"--step", "5:4"}, {"--profile", "high"}})
    EXPECT_THROW((void)second(none, name, value), InvalidArgument) << name;
  for (const auto& [name, value] : Given{{"--matcher", "cluster"}, {"--guide", "c.png"}})
    EXPECT_THROW((void)second(kept, name, value), InvalidArgument) << name;
}

TEST(Options, SearchStepsSuitWhatIsGiven) {
  const auto step = [](const char* name, const char* value, const char* search_step) {
    DenoiseOptions options = minimal();
    if (*search_step != '\0') apply(options, "--search-step", search_step);
    apply(options, "--profile", "high");
    apply(options, name, value);
    check(options);
    return params_of(options, options.temporal.value_or(0)).search_step;
  };
  EXPECT_EQ(step("--sigma", "20", ""), 0);
  EXPECT_EQ(step("--temporal", "2", ""), 4);
  EXPECT_EQ(step("--sigma", "20", "6"), 6);
  EXPECT_EQ(step("--step", "4", "4"), 0) << "all are so far apart";
  EXPECT_THROW((void)step("--guide", "c.png", "6"), InvalidArgument);
  EXPECT_THROW((void)step("--sigma", "20", "17"), InvalidArgument);
}

TEST(Options, TemporalSuitsWhatIsDenoised) {
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

TEST(Options, BestIsOverTime) {
  io::VideoInfo video;
  DenoiseOptions options = minimal();
  apply(options, "--profile", "best");
  EXPECT_TRUE(may_be_temporal(options));
  EXPECT_EQ(temporal_radius(options, video), 4);
  EXPECT_TRUE(make_params(options, given_noise(options), 4).bayes);
  EXPECT_FALSE(make_params(options, given_noise(options), 0).bayes);
  const auto refused = [&](const char* option, const char* value) -> std::string {
    DenoiseOptions more = options;
    apply(more, option, value);
    EXPECT_NO_THROW((void)make_params(more, given_noise(more), 0)) << "frame by frame it is high";
    try {
      (void)make_params(more, given_noise(more), 2);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refused("--window", "21"), "");
  EXPECT_NE(refused("--window", "21:15").find("--window A:B with --profile best"),
            std::string::npos);
  EXPECT_NE(refused("--mu2", "0.5").find("--mu2 with --profile best"), std::string::npos);
  EXPECT_NE(refused("--guide-noise", "0.1").find("--guide-noise"), std::string::npos);
  DenoiseOptions first = options;
  apply(first, "--phases", "2");
  EXPECT_EQ(make_params(first, given_noise(first), 2).phases, 2);
}

TEST(Options, TemporalOverrides) {
  DenoiseOptions options = minimal();
  const bm3d::Params own = params_of(options, 2);
  EXPECT_EQ(own.temporal, 2);
  EXPECT_GT(own.hard.place_bonus, 0);
  apply(options, "--temporal-window", "13:7");
  apply(options, "--place-bonus", "100:5");
  apply(options, "--scene-cut", "0.7");
  const bm3d::Params p = params_of(options, 2);
  EXPECT_EQ(p.hard.temporal_window, 13);
  EXPECT_EQ(p.wiener.temporal_window, 7);
  EXPECT_EQ(p.hard.place_bonus, 100);
  EXPECT_EQ(p.wiener.place_bonus, 5);
  EXPECT_EQ(p.scene_cut, 0.7f);
  apply(options, "--scene-cut", "off");
  EXPECT_EQ(params_of(options, 2).scene_cut, 0);
  for (const char* bad : {"0", "1.1", "on"})
    EXPECT_THROW(apply(options, "--scene-cut", bad), InvalidArgument) << bad;
  EXPECT_THROW(apply(options, "--keep", "-1"), InvalidArgument);
}

TEST(Options, Matchers) {
  const DenoiseOptions plain = minimal();
  EXPECT_FALSE(params_of(plain).hard.clusters);
  DenoiseOptions options = minimal();
  apply(options, "--matcher", "cluster");
  EXPECT_EQ(params_of(options).hard.clusters, ClusterParams{});
  EXPECT_EQ(params_of(options).wiener.clusters, ClusterParams{});
  apply(options, "--cluster", "15:32:1");
  apply(options, "--matcher", "window:cluster");  // in any order, the last of each
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

TEST(Options, NlmAveragesGroupsOfClusters) {
  const auto with = [](const std::vector<std::pair<std::string, std::string>>& given) {
    DenoiseOptions options = minimal();
    apply(options, "--method", "nlm");
    for (const auto& [name, value] : given) {
      apply(options, name, value);
      options.given.emplace_back(name, value);  // as the parser notes it
    }
    return options;
  };
  const NoiseModel noise({20, 20, 20});
  const DenoiseOptions options = with({{"--cluster", "paper"},
                                       {"--nlm-h", "0.7"},
                                       {"--strength", "2"},
                                       {"--scene-cut", "off"},
                                       {"--batch", "64x32"}});
  check(options);
  EXPECT_TRUE(averages_groups(options));
  const bm3d::Params params = make_means_params(options, noise, 2);
  EXPECT_EQ(params.means->h, 0.7f);
  EXPECT_EQ(params.hard.clusters, paper_clusters);
  EXPECT_EQ(params.noise.sigma(0), 40);
  EXPECT_EQ(params.scene_cut, 0);
  EXPECT_EQ(params.batch.width, 64);
  EXPECT_EQ(params.temporal, 2);
  EXPECT_EQ(params.phases, 1);
  check(with({{"--matcher", "cluster"}}));
  EXPECT_FALSE(averages_groups(with({})));
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

TEST(Options, Devices) {
  DenoiseOptions options;
  EXPECT_EQ(options.device.kind, DeviceKind::automatic);
  apply(options, "--device", "cuda:2,0");
  EXPECT_EQ(options.device.kind, DeviceKind::cuda);
  EXPECT_EQ(options.device.gpus, (std::vector<int>{2, 0}));
  apply(options, "--device", "cuda");
  EXPECT_TRUE(options.device.gpus.empty());
  apply(options, "--device", "cpu");
  EXPECT_EQ(options.device.kind, DeviceKind::cpu);
  EXPECT_GE(options.streams, 2);
}

TEST(Options, EncoderOptionsMayHoldColons) {
  DenoiseOptions options;
  apply(options, "--vopts", "preset=slow:x265-params=a=1\\:b=2:empty=");
  const std::vector<std::pair<std::string, std::string>> expected{
      {"preset", "slow"}, {"x265-params", "a=1:b=2"}, {"empty", ""}};
  EXPECT_EQ(options.vopts, expected);
}

TEST(Options, DropsAreKindsAndNumbers) {
  DenoiseOptions options;
  apply(options, "--drop", "audio,3,chapters,12");  // as the parser joins them
  EXPECT_TRUE(options.drops.audio && options.drops.chapters);
  EXPECT_FALSE(options.drops.subtitles || options.drops.tags || options.drops.attachments);
  EXPECT_EQ(options.drops.streams, (std::vector<int>{3, 12}));
  for (const char* bad : {"", "sound", "-1", "1.5", "audio,", "99999999999"})
    EXPECT_THROW(apply(options, "--drop", bad), InvalidArgument) << bad;
}

TEST(Options, WhatIsMissingIsNamed) {
  EXPECT_THROW(check({}), InvalidArgument);
  EXPECT_NO_THROW(check(minimal()));
}

TEST(Options, ProgressDoesNotGoWhereFramesGo) {
  DenoiseOptions options = minimal();
  apply(options, "--progress-fd", "1");
  EXPECT_NO_THROW(check(options));
  apply(options, "--output", "-");
  EXPECT_THROW(check(options), InvalidArgument);
}

TEST(Progress, Durations) {
  EXPECT_EQ(format_duration(0), "0:00");
  EXPECT_EQ(format_duration(4.2), "0:05");
  EXPECT_EQ(format_duration(754), "12:34");
  EXPECT_EQ(format_duration(3723), "1:02:03");
}

}  // namespace
}  // namespace lull::tools
