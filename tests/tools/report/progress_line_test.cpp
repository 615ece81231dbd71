// Tests that the progress line fits on every terminal.

#include "tools/report/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

pipeline::PipelineStats stats_of(std::int64_t frames, double seconds) {
  pipeline::PipelineStats stats;
  stats.frames = frames;
  stats.seconds = seconds;
  stats.busy = {0.1 * seconds, 0.9 * seconds, 0.2 * seconds};
  return stats;
}

TEST(ProgressLine, FitsEveryWidth) {
  const auto has_a_bar = MatchesRegex(" *[0-9]+% \\[#*\\.*\\].*");
  for (int columns = 1; columns <= 200; ++columns)
    for (const std::int64_t frames : {0, 1, 40, 172800, 2000000000})
      for (const std::int64_t done : {0, 1, 39, 40, 1999999999})
        for (const double seconds : {0.0, 0.5, 360000.0}) {
          const std::string line = progress_line(stats_of(done, seconds), frames, columns);
          ASSERT_LE(line.size(), static_cast<std::size_t>(std::max(columns, 2) - 1)) << line;
          ASSERT_FALSE(line.empty());
          if (columns >= 20 && frames >= done && frames > 0) {
            ASSERT_THAT(line, has_a_bar);
          }
        }
}

TEST(ProgressLine, ContainsMoreOnWiderTerminals) {
  const pipeline::PipelineStats stats = stats_of(30, 10);
  EXPECT_EQ(progress_line(stats, 40, 20), " 75% [#########...]");
  EXPECT_THAT(progress_line(stats, 40, 30), MatchesRegex(" 75% \\[#+\\.+\\]  30/40"));
  EXPECT_THAT(progress_line(stats, 40, 40), MatchesRegex(" 75% \\[#+\\.+\\]  30/40  ETA 0:04"));
  EXPECT_THAT(progress_line(stats, 40, 80),
              MatchesRegex(" 75% \\[#+\\.+\\]  30/40  ETA 0:04  3.0 fps  denoise 90% busy"));
}

TEST(ProgressLine, BarGrowsToItsEnd) {
  EXPECT_THAT(progress_line(stats_of(0, 0), 40, 40), StartsWith("  0% [..."));
  EXPECT_THAT(progress_line(stats_of(39, 1), 40, 40), HasSubstr(" 97% ["));
  const std::string full = progress_line(stats_of(40, 1), 40, 40);
  EXPECT_THAT(full, StartsWith("100% ["));
  EXPECT_THAT(full, Not(HasSubstr(".]")));
}

TEST(ProgressLine, HasNoBarWithoutALength) {
  const pipeline::PipelineStats stats = stats_of(30, 10);
  for (const std::int64_t frames : {0, 29}) {  // unknown, or found to be wrong
    EXPECT_EQ(progress_line(stats, frames, 80), "30 frames  3.0 fps  0:10  denoise 90% busy");
    EXPECT_EQ(progress_line(stats, frames, 20), "30 frames  3.0 fps");
  }
}

/// Returns the successive contents of the progress line.
std::vector<std::string> live_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line, '\r');)
    if (const std::size_t end = line.find("\033[K"); end != std::string::npos && end > 0)
      lines.push_back(line.substr(0, end));
  return lines;
}

TEST(ProgressLine, FitsATerminalOfAnySize) {
  const Folder folder;
  std::vector<Frame> clip(12, noisy_picture(clean_picture({.width = 48, .height = 34}), 20));
  std::filesystem::create_directory(folder / "in");
  for (std::size_t i = 0; i < clip.size(); ++i)
    write_pnm(folder / ("in/" + std::to_string(i) + ".pgm"), clip[i]);
  for (const int columns : {0, 20, 33, 200}) {
    const Outcome outcome = run_lull({folder / "in/%d.pgm", folder / "out.mkv", "--sigma", "20",
                                      "--profile", "paper", "--device", "reference", "-y"},
                                     {.terminal = true, .columns = columns});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::vector<std::string> lines = live_lines(outcome.err);
    ASSERT_FALSE(lines.empty()) << outcome.err;
    for (const std::string& line : lines) {
      EXPECT_LT(line.size(), static_cast<std::size_t>(columns == 0 ? 80 : columns)) << line;
      EXPECT_THAT(line, ContainsRegex("^ *[0-9]+% \\[#*\\.*\\]"));
    }
  }
}

TEST(ProgressLine, FormatsDurations) {
  EXPECT_EQ(format_duration(0), "0:00");
  EXPECT_EQ(format_duration(4.2), "0:05");
  EXPECT_EQ(format_duration(754), "12:34");
  EXPECT_EQ(format_duration(3723), "1:02:03");
}

}  // namespace
}  // namespace lull::tools
