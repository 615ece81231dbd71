// Tests settings files, variables, their precedence, and presets.

#include "tools/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/plan_options.h"
#include "tools/settings/settings_file.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::vector<std::string> values(const std::string& text) {
  std::vector<std::string> all;
  for (const Setting& setting : parse_settings(text, "f.toml")) {
    std::string line = std::to_string(setting.line) + " " + setting.section + "." + setting.key;
    for (const std::string& value : setting.values) line += " <" + value + ">";
    all.push_back(line);
  }
  return all;
}

TEST(SettingsFile, ReadsValuesOfAllKinds) {
  EXPECT_THAT(values("# comment\n\nprofile = \"high\" # why\nsigma=1_2.5\r\n\tlossless = true\n"
                     "log-file = 'C:\\a#b'\nx = \"a\\\"\\\\\\tb\"\nn = -3\ne = 1e3\nz = +0\n"
                     "[plan] # table\ndrop = [ \"audio\", 3, ]\nempty = []\n"),
              ElementsAre("3 .profile <high>", "4 .sigma <12.5>", "5 .lossless <true>",
                          "6 .log-file <C:\\a#b>", "7 .x <a\"\\\tb>", "8 .n <-3>", "9 .e <1e3>",
                          "10 .z <0>", "12 plan.drop <audio> <3>", "13 plan.empty"));
  EXPECT_THAT(values(""), IsEmpty());
}

TEST(SettingsFile, RejectsWhatIsNotTomlWithFileAndLine) {
  const std::pair<const char*, const char*> bad[] = {{"profile = high", "'high' is not a value"},
                                                     {"profile", "expected = after 'profile'"},
                                                     {"= 3", "expected a name"},
                                                     {"\"profile\" = 3", "expected a name"},
                                                     {"a = ", "a value is missing"},
                                                     {"a = \"x", "must end on the same line"},
                                                     {"a = 'x", "must end on the same line"},
                                                     {"a = \"\"\"x\"\"\"", "several lines"},
                                                     {"a = \"\\x\"", "a backslash"},
                                                     {"a = 1 2", "'2' is unexpected"},
                                                     {"a = 012", "is not a value"},
                                                     {"a = .5", "is not a value"},
                                                     {"a = 5.", "is not a value"},
                                                     {"a = 1__2", "is not a value"},
                                                     {"a = 0x10", "is not a value"},
                                                     {"a = inf", "is not a value"},
                                                     {"a = 2026-11-28", "is not a value"},
                                                     {"a = {b = 1}", "is not a value"},
                                                     {"a.b = 1", "expected = after 'a'"},
                                                     {"a = [1", "must end with ]"},
                                                     {"a = [true]", "must not contain booleans"},
                                                     {"[[plan]]", "expected a name"},
                                                     {"[plan", "a table must be [NAME]"},
                                                     {"a = 1\x01", "control characters"}};
  for (const auto& [text, part] : bad) {
    const std::string message =
        refusal_of([&] { (void)parse_settings("\n" + std::string(text) + "\n", "f.toml"); });
    EXPECT_THAT(message, testing::StartsWith("f.toml:2: ")) << text;
    EXPECT_THAT(message, HasSubstr(part)) << text;
  }
  EXPECT_THAT(refusal_of([] { (void)parse_settings("a = 1\na = 2", "f"); }),
              HasSubstr("f:2: 'a' is set twice (also in line 1)"));
  EXPECT_THAT(refusal_of([] { (void)parse_settings("[a]\n[b]\n[a]", "f"); }),
              HasSubstr("f:3: [a] appears twice"));
}

class Settings : public testing::Test {
 protected:
  /// Returns "NAME=VALUE@PLACE" for each value that applies.
  std::vector<std::string> applied(const std::string& file,
                                   const std::map<std::string, std::string>& variables,
                                   const std::vector<std::pair<std::string, std::string>>& given,
                                   bool is_part = false, const std::string& name = "denoise") {
    write_bytes(folder_ / "f.toml", file);
    std::vector<OptionValue> line;
    for (const auto& [names, value] : given)
      line.push_back({.row = *find_option(names), .value = value, .place = {}});
    line.push_back({.row = *find_option("--config"), .value = folder_ / "f.toml", .place = {}});
    const auto table = denoise_option_table();
    const CommandSettings command{.command = name,
                                  .names = {"denoise", "plan", "probe"},
                                  .rows = {table.begin(), table.end()},
                                  .is_part = is_part};
    const auto environment = [&](const std::string& variable) -> const char* {
      const auto found = variables.find(variable);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
    std::vector<std::string> texts;
    for (const OptionValue& value : with_settings(command, line, environment)) {
      if (value.row.names == "--config") continue;
      const std::size_t slash = value.place.rfind('/');
      texts.push_back(std::string(value.row.names) + "=" + value.value + "@" +
                      (slash == std::string::npos ? value.place : value.place.substr(slash + 1)));
    }
    return texts;
  }
  Folder folder_;
};

TEST_F(Settings, CommandLineThenEnvironmentThenTableThenFile) {
  const std::string file = "profile = \"fast\"\ncrf = 20\n[denoise]\ncrf = 21\n[plan]\ncrf = 22\n";
  EXPECT_THAT(applied(file, {}, {}),
              ElementsAre("-p,--profile=fast@f.toml:1", "--crf=21@f.toml:4"));
  EXPECT_THAT(applied(file, {{"LULL_PROFILE", "high"}}, {}),
              ElementsAre("--crf=21@f.toml:4", "-p,--profile=high@LULL_PROFILE"));
  EXPECT_THAT(applied(file, {{"LULL_PROFILE", "high"}}, {{"-p,--profile", "best"}}),
              ElementsAre("--crf=21@f.toml:4", "-p,--profile=best@"));
  EXPECT_THAT(applied(file, {}, {}, false, "plan"),
              ElementsAre("-p,--profile=fast@f.toml:1", "--crf=22@f.toml:6"));
  EXPECT_THAT(applied("", {{"LULL_CRF", ""}}, {}), IsEmpty()) << "an empty variable sets nothing";
}

TEST_F(Settings, OptionsForTheSameThingReplaceEachOther) {
  EXPECT_THAT(
      applied("", {{"LULL_PROFILE", "high"}, {"LULL_TEMPORAL", "1"}}, {{"--preset", "slow"}}),
      ElementsAre("--preset=slow@"));
  EXPECT_THAT(applied("preset = \"slow\"", {{"LULL_PROFILE", "fast"}}, {}),
              ElementsAre("--preset=slow@f.toml:1", "-p,--profile=fast@LULL_PROFILE"));
  EXPECT_THAT(applied("sigma = 9", {}, {{"--noise", "camera.json"}}),
              ElementsAre("--noise=camera.json@"));
  EXPECT_THAT(applied("sigma = 9", {}, {{"--noise", "rician"}}),
              ElementsAre("-s,--sigma=9@f.toml:1", "--noise=rician@"));
  EXPECT_THAT(applied("lossless = true", {{"LULL_CRF", "3"}}, {}), ElementsAre("--crf=3@LULL_CRF"));
}

TEST_F(Settings, SwitchesCanBeTurnedOff) {
  EXPECT_THAT(applied("lossless = true", {}, {}), ElementsAre("--lossless=@f.toml:1"));
  EXPECT_THAT(applied("lossless = true", {{"LULL_LOSSLESS", "0"}}, {}), IsEmpty());
  EXPECT_THAT(applied("lossless = false", {{"LULL_LOSSLESS", "yes"}}, {}),
              ElementsAre("--lossless=@LULL_LOSSLESS"));
}

TEST_F(Settings, PartOfAPlannedJobTakesOnlyTheMachineFromSettings) {
  EXPECT_THAT(applied("profile = \"fast\"\nthreads = 3",
                      {{"LULL_SIGMA", "4"}, {"LULL_DEVICE", "cpu"}}, {}, true),
              ElementsAre("--threads=3@f.toml:2", "-d,--device=cpu@LULL_DEVICE"));
}

TEST_F(Settings, RejectsWrongKeysAndValuesWithTheirPlace) {
  const auto message = [&](const std::string& file,
                           const std::map<std::string, std::string>& variables = {}) {
    return refusal_of([&] { (void)applied(file, variables, {}); });
  };
  EXPECT_THAT(message("\nprofil = 'fast'"),
              HasSubstr("f.toml:2: profil (there is no such option); did you mean profile?"));
  EXPECT_THAT(message("[denose]\ncrf = 1"), HasSubstr("did you mean denoise?"));
  EXPECT_THAT(message("output = 'a'"),
              HasSubstr("f.toml:1: output (this option can only be given"));
  EXPECT_THAT(message("lossless = 1"), HasSubstr("lossless must be true or false"));
  EXPECT_THAT(message("crf = true"), HasSubstr("crf must be a string or a number"));
  EXPECT_THAT(message("crf = [1]"), HasSubstr("crf must be a single value"));
  EXPECT_THAT(message("", {{"LULL_LOSSLESS", "maybe"}}),
              HasSubstr("LULL_LOSSLESS=maybe (must be 1 or 0"));
  DenoiseOptions options;
  const OptionValue wrong{
      .row = *find_option("-p,--profile"), .value = "fats", .place = "f.toml:7"};
  EXPECT_THAT(refusal_of([&] { apply_values({wrong}, options); }),
              HasSubstr("f.toml:7: --profile fats (must be one of"));
}

TEST_F(Settings, OptionsOfOneRunComeOnlyFromTheCommandLine) {
  std::vector<std::string> refused;
  for (const OptionRow& row : denoise_option_table())
    if ((row.uses & only_on_command_line) != 0) refused.emplace_back(row.names);
  EXPECT_THAT(refused,
              testing::UnorderedElementsAre(
                  "-i,--input", "-o,--output", "-y,--overwrite", "--report", "--reference",
                  "--report-frames", "--job", "--segment", "--resume", "--residuals",
                  "--grain-table", "--noise-map", "--mask", "--phase", "--phase-turn",
                  "--phase-out", "--guide", "--feature", "--frames", "--start", "--duration",
                  "--keep", "--allow-protocol", "--progress-fd", "--metrics-file", "--config"));
  EXPECT_THAT(applied("", {{"LULL_OUTPUT", "x"}, {"LULL_INPUT", "y"}, {"LULL_OVERWRITE", "1"}}, {}),
              IsEmpty());
}

TEST(Variables, MisspeltNamesAreReported) {
  EXPECT_THAT(misspelt_variables({"LULL_PROFIL", "LULL_PROFILE", "LULL_TEST_DATA", "LULL_PYTHON",
                                  "LULL_JOBS", "LULL_NO_INSTALL", "HOME"}),
              HasSubstr("LULL_PROFIL is ignored (did you mean LULL_PROFILE?)"));
  EXPECT_EQ(misspelt_variables({"LULL_TEST_DATA", "LULL_PYTHON", "LULL_JOBS", "LULL_NO_INSTALL",
                                "LULL_CONFIG", "LULL_COMMAND", "LULL_PLUGIN", "LULL_SKIPS_GPU",
                                "LULL_SIGMA_SCALE", "LULL_CUDA", "LULL_GPU_TOOLS"}),
            "");
}

TEST(Presets, SetProfileAndRadiusUnlessGiven) {
  const io::VideoInfo video;
  io::VideoInfo still;
  still.still = true;
  const auto options_with = [](const std::vector<std::pair<std::string, std::string>>& given) {
    DenoiseOptions options;
    for (const auto& [names, value] : given) set_option(options, *find_option(names), value);
    return options;
  };
  for (const Preset& preset : presets) {
    const DenoiseOptions options = options_with({{"--preset", std::string(preset.name)}});
    EXPECT_EQ(chosen_profile(options), preset.profile) << preset.name;
    EXPECT_EQ(temporal_radius(options, video), preset.temporal) << preset.name;
    EXPECT_EQ(temporal_radius(options, still), 0) << preset.name;
    EXPECT_EQ(may_be_temporal(options), preset.temporal > 0) << preset.name;
  }
  const DenoiseOptions plain = options_with({}), medium = options_with({{"--preset", "medium"}});
  EXPECT_EQ(chosen_profile(plain), chosen_profile(medium));
  EXPECT_EQ(temporal_radius(plain, video), temporal_radius(medium, video));
  const DenoiseOptions own =
      options_with({{"-p,--profile", "fast"}, {"--temporal", "3"}, {"--preset", "veryslow"}});
  EXPECT_EQ(chosen_profile(own), Profile::fast);
  EXPECT_EQ(temporal_radius(own, video), 3);
  EXPECT_THAT(refusal_of([&] {
                (void)options_with({{"--preset", "quick"}});
              }),
              HasSubstr("--preset quick (must be one of"));
}

TEST(Presets, PlanRecordsTheProfile) {
  DenoiseOptions options;
  set_option(options, *find_option("--preset"), "slow");
  EXPECT_THAT(options_for_plan(options), ElementsAre(std::pair("-p,--profile", "high")));
}

/// Runs the command with variables of the environment.
class SettingsOfTheCommand : public testing::Test {
 protected:
  void SetUp() override {
    for (int k = 0; k < 4; ++k)
      frames_.push_back(noisy_picture(clean_picture({.width = 32, .height = 24}), 10));
    write_y4m(folder_ / "in.y4m", frames_);
  }
  void TearDown() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  std::string result_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {folder_ / "in.y4m", folder_ / "out.y4m", "-y", "--device", "cpu", "-q"});
    const Outcome outcome = run_lull(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return bytes_of(folder_ / "out.y4m");
  }
  Folder folder_;
  std::vector<Frame> frames_;
  std::vector<std::string> set_;
};

TEST_F(SettingsOfTheCommand, FileAndVariablesActLikeOptions) {
  const std::string fast = result_of({"--sigma", "9", "--profile", "fast", "--temporal", "1"}),
                    plain = result_of({"--sigma", "9"});
  ASSERT_NE(fast, plain);
  write_bytes(folder_ / "f.toml", "sigma = 9\n[denoise]\npreset = 'faster'\n");
  EXPECT_EQ(result_of({"--config", folder_ / "f.toml"}), fast);
  EXPECT_EQ(result_of({"--config", folder_ / "f.toml", "--preset", "medium"}), plain);
  set("LULL_CONFIG", folder_ / "f.toml");
  EXPECT_EQ(result_of({}), fast);
  set("LULL_PRESET", "medium");
  EXPECT_EQ(result_of({}), plain);
}

TEST_F(SettingsOfTheCommand, ErrorsAreOneLineWithThePlace) {
  write_bytes(folder_ / "f.toml", "sigma = 9\nprofile = 'fats'\n");
  const auto error = [&] {
    const Outcome outcome = run_lull(
        {folder_ / "in.y4m", folder_ / "o.y4m", "--config", folder_ / "f.toml", "--device", "cpu"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(error(), HasSubstr("f.toml:2: --profile fats (must be one of"));
  write_bytes(folder_ / "f.toml", "");
  set("LULL_PROFILE", "fats");
  EXPECT_THAT(error(), HasSubstr("LULL_PROFILE: --profile fats (must be one of"));
  set("LULL_CONFIG", folder_ / "none.toml");
  const Outcome outcome = run_lull({folder_ / "in.y4m", folder_ / "o.y4m"});
  EXPECT_EQ(outcome.code, 66);
  EXPECT_THAT(outcome.err, HasSubstr("cannot read the settings file"));
}

TEST_F(SettingsOfTheCommand, PlanRecordsTheResolvedValues) {
  set("LULL_PRESET", "faster");
  write_bytes(folder_ / "f.toml", "sigma = 9\n");
  const Outcome planned =
      run_lull({"plan", folder_ / "in.y4m", "-o", folder_ / "out.mkv", "--segment-frames", "2",
                "--job", folder_ / "job", "--config", folder_ / "f.toml", "--device", "cpu", "-q"});
  ASSERT_EQ(planned.code, 0) << planned.err;
  const std::string plan = bytes_of(folder_ / "job" + "/plan");
  for (const char* line :
       {"\noption -p,--profile fast\n", "\noption --temporal 1\n", "\noption -s,--sigma 9\n"})
    EXPECT_THAT(plan, HasSubstr(line));
  EXPECT_THAT(plan, testing::Not(HasSubstr("--preset")));
  set("LULL_PRESET", "veryslow");  // another machine with other settings
  const Outcome part = run_lull({"denoise", "--job", folder_ / "job", "--device", "cpu", "-q"});
  EXPECT_EQ(part.code, 0) << part.err;
}

}  // namespace
}  // namespace lull::tools
