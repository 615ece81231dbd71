// Tests that options which users rely on remain: every option that a release had still exists, with
// its kind of value. docs/reference/stability.md states the promise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tools/command_line/manual.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

/// Options by "COMMAND NAME", with their placeholder for the value.
using Options = std::map<std::string, std::string>;

/// Returns the options that a manual in Markdown lists. Each has a row "| `-a`, `--b` `VALUE` |".
Options options_of(const std::string& manual) {
  Options options;
  std::string command;
  std::istringstream lines(manual);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) command = line.substr(3);
    if (command.empty() || !line.starts_with("| `")) continue;
    std::vector<std::string> words;
    const std::string cell = line.substr(0, line.find(" | ", 2));
    for (std::size_t from = cell.find('`'); from != std::string::npos;) {
      const std::size_t to = cell.find('`', from + 1);
      words.push_back(cell.substr(from + 1, to - from - 1));
      from = cell.find('`', to + 1);
    }
    std::string value;
    if (words.size() > 1 && !words.back().starts_with("-")) {
      value = words.back();
      words.pop_back();
      std::erase(value, '\\');
    }
    for (const std::string& name : words) options[command + " " + name] = value;
  }
  return options;
}

/// Returns how `now` breaks what `before` promises, one line for each option.
std::vector<std::string> breaks(const Options& before, const Options& now) {
  std::vector<std::string> problems;
  for (const auto& [name, value] : before) {
    const auto found = now.find(name);
    if (found == now.end()) {
      problems.push_back(name + " is gone");
    } else if (value.empty() != found->second.empty()) {
      problems.push_back(name + " takes a value only in one of the versions");
    } else {
      const std::vector<std::string> words = choices(found->second);
      for (const std::string& word : choices(value))
        if (std::ranges::find(words, word) == words.end() && !words.empty())
          problems.push_back(name + " no longer accepts " + word);
    }
  }
  return problems;
}

TEST(StableOptions, OptionsOfTheRecordedVersionStillExist) {
  const Outcome manual = run_lull({"help", "--format", "markdown"});
  ASSERT_EQ(manual.code, 0);
  const Options recorded =
      options_of(bytes_of(LULL_SOURCE "/tests/tools/command_line/recorded/help-0.1.md"));
  EXPECT_GT(recorded.size(), 200u);
  EXPECT_THAT(breaks(recorded, options_of(manual.out)), testing::IsEmpty());
}

TEST(StableOptions, RemovedOptionsAndWordsAreFound) {
  const Options before = options_of(
      "## lull denoise\n| `-p`, `--profile` `fast\\|high` | text |\n| `--align` | text |\n");
  EXPECT_EQ(before.size(), 3u);
  EXPECT_THAT(breaks(before, before), testing::IsEmpty());
  EXPECT_THAT(breaks(before, options_of("## lull denoise\n| `-p`, `--profile` `fast\\|best` | t |\n"
                                        "| `--align` `X` | t |\n")),
              testing::UnorderedElementsAre(
                  "lull denoise --align takes a value only in one of the versions",
                  "lull denoise --profile no longer accepts high",
                  "lull denoise -p no longer accepts high"));
  EXPECT_THAT(breaks(before, {}), testing::SizeIs(3));
}

}  // namespace
}  // namespace lull::tools
