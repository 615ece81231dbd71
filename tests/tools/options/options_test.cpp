#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/given.h"

namespace lull::tools {
namespace {

TEST(Options, EveryRowIsCompleteAndUnique) {
  std::set<std::string_view> names;
  for (const OptionRow& row : denoise_option_table()) {
    EXPECT_TRUE(names.insert(row.names).second) << row.names;
    EXPECT_FALSE(row.help.empty());
    EXPECT_NE(row.apply, nullptr);
  }
}

TEST(Options, HelpHasAFewGroups) {
  std::vector<OptionGroup> groups;
  for (const OptionRow& row : denoise_option_table()) groups.push_back(row.group);
  EXPECT_TRUE(std::ranges::is_sorted(groups));
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  EXPECT_LE(groups.size(), 7u);
  for (const OptionGroup group : groups) EXPECT_FALSE(heading(group).empty());
}

TEST(Options, OptionsAreInTheGroupOfTheirPurpose) {
  const std::pair<const char*, OptionGroup> expected[] = {
      {"-s,--sigma", OptionGroup::basic},      {"--method", OptionGroup::basic},
      {"--keep", OptionGroup::basic},          {"--scale", OptionGroup::basic},
      {"-d,--device", OptionGroup::basic},     {"--temporal", OptionGroup::video},
      {"--interlaced", OptionGroup::video},    {"--mask", OptionGroup::volumes},
      {"--datatype", OptionGroup::volumes},    {"--feature", OptionGroup::renders},
      {"--depth", OptionGroup::renders},       {"--crf", OptionGroup::files},
      {"--drop", OptionGroup::files},          {"--raw-format", OptionGroup::files},
      {"--report", OptionGroup::run},          {"--job", OptionGroup::run},
      {"--window", OptionGroup::tuning},       {"--cube", OptionGroup::tuning},
      {"--search-radius", OptionGroup::tuning}};
  for (const auto& [name, group] : expected) {
    const OptionRow* row = find_option(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(row->group, group) << name;
  }
}

TEST(Options, TuningOptionsNameTheirMethods) {
  for (const OptionRow& row : denoise_option_table()) {
    if (row.group != OptionGroup::tuning) continue;
    EXPECT_NE(row.uses & method_bits, 0u) << row.names;
  }
}

TEST(Options, GivenOptionsAreFoundByMethod) {
  DenoiseOptions options = minimal();
  EXPECT_EQ(first_given(options, for_bm3d, for_bm4d), "");
  apply(options, "--lambda", "2.5");
  apply(options, "--tau", "300");
  apply(options, "--batch", "64x32");
  apply(options, "--cube", "3");
  EXPECT_EQ(first_given(options, for_bm3d, for_bm4d), "--tau");
  EXPECT_EQ(first_given(options, for_bm4d, for_bm3d), "--cube");
  EXPECT_EQ(first_given(options, for_groups, for_nlm), "--batch");
  EXPECT_EQ(first_given(options, for_nlm, for_bm3d), "");
}

TEST(Options, TimesAreParsedWithoutOverflow) {
  DenoiseOptions options = minimal();
  apply(options, "--start", "1:02:03.25");
  EXPECT_EQ(options.input.source.selection.start_us, 3723250000);
  apply(options, "--start", "1099511627776");
  EXPECT_EQ(options.input.source.selection.start_us, 1099511627776000000);
  for (const char* beyond : {"1099511627777", "1099511627776:00", "1099511627776:59:59"})
    EXPECT_THROW(apply(options, "--start", beyond), InvalidArgument) << beyond;
}

TEST(Options, ErrorMessagesAreOneLine) {
  DenoiseOptions options;
  try {
    apply(options, "--sigma", "1\n2\x1b[2J");
    FAIL() << "that is no number";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "--sigma 1?2?[2J (must be auto, or a number from 0); see lull denoise --help-all");
  }
}

TEST(Options, SingleSigmaAppliesToAllPlanes) {
  DenoiseOptions options = minimal();
  EXPECT_EQ(params_of(options).noise.sigmas(), (std::array<float, 3>{20, 20, 20}));
  apply(options, "--sigma", "12.5:6:0");
  EXPECT_EQ(params_of(options).noise.sigmas(), (std::array<float, 3>{12.5, 6, 0}));
}

TEST(Options, NoiseIsEstimatedUnlessGiven) {
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

TEST(Options, DeviceNamesAreParsed) {
  DenoiseOptions options;
  EXPECT_EQ(options.run.device.kind, DeviceKind::automatic);
  apply(options, "--device", "cuda:2,0");
  EXPECT_EQ(options.run.device.kind, DeviceKind::cuda);
  EXPECT_EQ(options.run.device.gpus, (std::vector<int>{2, 0}));
  apply(options, "--device", "cuda");
  EXPECT_TRUE(options.run.device.gpus.empty());
  apply(options, "--device", "cpu");
  EXPECT_EQ(options.run.device.kind, DeviceKind::cpu);
  EXPECT_EQ(options.run.streams, bm3d::default_streams);
}

TEST(Options, EncoderOptionsMayContainColons) {
  DenoiseOptions options;
  apply(options, "--vopts", "preset=slow:x265-params=a=1\\:b=2:empty=");
  const std::vector<std::pair<std::string, std::string>> expected{
      {"preset", "slow"}, {"x265-params", "a=1:b=2"}, {"empty", ""}};
  EXPECT_EQ(options.output.vopts, expected);
}

TEST(Options, DropAcceptsKindsAndNumbers) {
  DenoiseOptions options;
  apply(options, "--drop", "audio,3,chapters,12");  // the parser joins them like this
  EXPECT_TRUE(options.output.drops.audio && options.output.drops.chapters);
  EXPECT_FALSE(options.output.drops.subtitles || options.output.drops.tags ||
               options.output.drops.attachments);
  EXPECT_EQ(options.output.drops.streams, (std::vector<int>{3, 12}));
  for (const char* bad : {"", "sound", "-1", "1.5", "audio,", "99999999999"})
    EXPECT_THROW(apply(options, "--drop", bad), InvalidArgument) << bad;
}

TEST(Options, MissingOptionsAreRejected) {
  EXPECT_THROW(check({}), InvalidArgument);
  EXPECT_NO_THROW(check(minimal()));
}

TEST(Options, ProgressAndFramesNeedDifferentDescriptors) {
  DenoiseOptions options = minimal();
  apply(options, "--progress-fd", "1");
  EXPECT_NO_THROW(check(options));
  apply(options, "--output", "-");
  EXPECT_THROW(check(options), InvalidArgument);
}

}  // namespace
}  // namespace lull::tools
