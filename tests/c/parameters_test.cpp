// Parameters of the C interface agree with the options of the command.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "c/support.h"
#include "core/params/profile.h"
#include "tools/options/option_table.h"

namespace lull {
namespace {

using namespace lull::test_support;

/// Options of the command that no session of the C interface can have: they concern files, the
/// terminal, encoders, jobs, or inputs other than frames (features, guides, bursts, depth maps,
/// defects, masks, series).
const std::set<std::string> not_parameters{"input",
                                           "output",
                                           "overwrite",
                                           "quiet",
                                           "interlaced",
                                           "input-format",
                                           "raw-format",
                                           "size",
                                           "rate",
                                           "white",
                                           "layer",
                                           "output-format",
                                           "drop",
                                           "video",
                                           "keep-times",
                                           "frames",
                                           "start",
                                           "duration",
                                           "max-pixels",
                                           "max-frames",
                                           "max-streams",
                                           "max-memory",
                                           "allow-protocol",
                                           "keep",
                                           "scale",
                                           "vcodec",
                                           "crf",
                                           "vopts",
                                           "pix-fmt",
                                           "lossless",
                                           "grain",
                                           "grain-table",
                                           "strict-metadata",
                                           "axis",
                                           "series-uid",
                                           "datatype",
                                           "sigma-scale",
                                           "repair",
                                           "guide",
                                           "align",
                                           "feature",
                                           "stack",
                                           "mask",
                                           "outside",
                                           "series",
                                           "noise-map",
                                           "residuals",
                                           "config",
                                           "raw",
                                           "depth",
                                           "invalid",
                                           "sigma-model",
                                           "hwaccel",
                                           "progress",
                                           "progress-fd",
                                           "log-level",
                                           "log-file",
                                           "metrics-file",
                                           "report",
                                           "reference",
                                           "report-frames",
                                           "max-decode-errors",
                                           "segment-frames",
                                           "resume",
                                           "job",
                                           "segment"};

std::string long_name(std::string_view names) {
  return std::string(names.substr(names.rfind("--") + 2));
}

std::set<std::string> parameters() {
  std::set<std::string> names;
  lull_parameter_info info{};
  info.size = sizeof(info);
  for (std::size_t i = 0; lull_get_parameter(i, &info) == LULL_OK; ++i) names.insert(info.name);
  return names;
}

TEST(CParameters, AreTheOptionsOfTheCommandThatConcernSessions) {
  std::set<std::string> options;
  for (const tools::OptionRow& row : tools::denoise_option_table())
    if (row.names.find("--") != std::string_view::npos) options.insert(long_name(row.names));
  std::set<std::string> expected;
  std::ranges::set_difference(options, not_parameters, std::inserter(expected, expected.end()));
  EXPECT_EQ(parameters(), expected)
      << "an option is either in c/src/parameters.cpp or in not_parameters";
}

TEST(CParameters, HaveTheValuesAndTextsOfTheCommand) {
  lull_parameter_info info{};
  info.size = sizeof(info);
  for (std::size_t i = 0; lull_get_parameter(i, &info) == LULL_OK; ++i) {
    const auto table = tools::denoise_option_table();
    const auto row = std::ranges::find_if(table, [&](const tools::OptionRow& one) {
      return one.names.ends_with("--" + std::string(info.name));
    });
    ASSERT_NE(row, table.end()) << info.name;
    EXPECT_EQ(row->value, info.values);
    EXPECT_EQ(row->help, info.help);
  }
  EXPECT_EQ(lull_get_parameter(1000, &info), LULL_NONE);
}

TEST(CParameters, EveryMethodAndProfileThatIsListedOpens) {
  std::vector<std::string> methods;
  for (std::size_t i = 0; const char* method = lull_method_name(i); ++i) {
    methods.emplace_back(method);
    const bool volumes = methods.back() == "bm4d";
    std::set<std::string> listed;
    for (std::size_t k = 0; const char* profile = lull_profile_name(method, k); ++k)
      listed.insert(profile);
    for (const auto& [value, name] : names_of<Profile>) {
      const lull_format format =
          c_format(24, 24, LULL_GREY, LULL_U8, volumes ? LULL_VOLUME : LULL_PICTURES);
      const Params params = make_c_params(
          {{"method", method}, {"profile", std::string(name).c_str()}, {"sigma", "10"}});
      lull_session* session = nullptr;
      const lull_status status = lull_session_open(&format, params.get(), nullptr, &session);
      lull_session_close(session);
      EXPECT_EQ(status == LULL_OK, listed.contains(std::string(name)))
          << method << " " << name << ": " << lull_last_error();
    }
  }
  EXPECT_THAT(methods, ::testing::ElementsAre("auto", "bm3d", "bm4d", "nlm"));
  EXPECT_EQ(lull_profile_name("bm5d", 0), nullptr);
}

TEST(CParameters, AutoFiltersVolumesOfEightSlicesWithCubes) {
  for (const auto& [slices, is_volume] : {std::pair{0, 1}, {7, 0}, {8, 1}}) {
    lull_format format = c_format(24, 24, LULL_GREY, LULL_U8, LULL_VOLUME);
    format.frames = slices;
    const Session session = open_c_session(format, {{"sigma", "10"}});
    lull_session_info info{};
    info.size = sizeof(info);
    ASSERT_EQ(lull_session_get(session.get(), &info), LULL_OK);
    EXPECT_EQ(info.is_volume, is_volume) << slices;
  }
}

TEST(CParameters, DevicesBeginWithTheCpu) {
  lull_device_info info{};
  info.size = sizeof(info);
  ASSERT_EQ(lull_get_device(0, &info), LULL_OK);
  EXPECT_STREQ(info.name, "cpu");
  EXPECT_EQ(lull_get_device(1000, &info), LULL_NONE);
  const Params params = make_c_params({{"sigma", "10"}, {"device", "cuda:999"}});
  const lull_format format = c_format(24, 24);
  lull_session* session = nullptr;
  EXPECT_EQ(lull_session_open(&format, params.get(), nullptr, &session), LULL_DEVICE_UNAVAILABLE);
}

}  // namespace
}  // namespace lull
