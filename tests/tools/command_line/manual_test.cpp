// Tests the manual and the shell completions, which are generated from the option table: their
// content, and their use by man and by shells.

#include "tools/command_line/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "tools/command_line/completion.h"
#include "tools/options/option_table.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string printed(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_lull(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

/// Returns the output of a shell command; `code` receives the command's exit code.
std::string output_of(const std::string& command, int& code) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("popen");
  for (int c; (c = std::getc(pipe)) != EOF;) text += static_cast<char>(c);
  code = pclose(pipe);
  return text;
}

bool has(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

TEST(Manual, RepositoryCopyIsUpToDate) {
  EXPECT_EQ(printed({"help", "--format", "markdown"}),
            bytes_of(LULL_SOURCE "/docs/reference/cli.md"))
      << "`./run manual` writes docs/reference/cli.md anew";
}

TEST(Manual, ContainsEveryOption) {
  const std::string page = printed({"help", "--format", "markdown"});
  const std::string man = printed({"help", "--format", "man"});
  for (const OptionRow& row : denoise_option_table()) {
    const std::string name(row.names.substr(row.names.rfind(',') + 1));
    EXPECT_THAT(page, HasSubstr("`" + name + "`"));
    std::string escaped;
    for (const char c : name) escaped += c == '-' ? "\\-" : std::string(1, c);
    EXPECT_THAT(man, HasSubstr("\\fB" + escaped + "\\fR"));
  }
}

TEST(Manual, ChoicesAreListsOfWords) {
  EXPECT_THAT(choices("fast|high|8bit"), ElementsAre("fast", "high", "8bit"));
  for (const char* value : {"S|Y:Cb:Cr", "A[:B]", "FILE", "N", "", "WxH"})
    EXPECT_TRUE(choices(value).empty()) << value;
}

TEST(Manual, EscapesMarkup) {
  const ManualOption option{.names = {"-a", "--a-b"},
                            .value = "x|y",
                            .group = "G",
                            .help = ".dots *stars* and \\: bars | here",
                            .required = false};
  const Manual manual{.program = {.name = "p", .summary = "'quoted", .options = {}, .footer = ""},
                      .commands = {{.name = "p c",
                                    .summary = "C",
                                    .options = {option},
                                    .footer = "Text:\n  code -x\n  .more\n"}}};
  const std::string page = markdown(manual), man = man_page(manual);
  EXPECT_THAT(page,
              HasSubstr("| `-a`, `--a-b` `x\\|y` | .dots \\*stars\\* and \\\\: bars \\| here |"));
  EXPECT_THAT(page, HasSubstr("\nText:\n\n```\ncode -x\n.more\n```\n"));
  EXPECT_THAT(man, HasSubstr("\n\\&'quoted\n"));
  EXPECT_THAT(man, HasSubstr("\\fB\\-a\\fR, \\fB\\-\\-a\\-b\\fR \\fIx|y\\fR\n\\&.dots"));
  EXPECT_THAT(man, HasSubstr("and \\e: bars"));
  EXPECT_THAT(man, HasSubstr("code \\-x\n\\&.more\n"));
}

TEST(Manual, FormatsWithoutWarningsAsManPage) {
  // groff is the formatter that man uses. man itself is a stub in minimised systems.
  if (!has("groff")) GTEST_SKIP() << "no groff here";
  const Folder folder;
  write_bytes(folder / "lull.1", printed({"help", "--format", "man"}));
  int code = 0;
  const std::string text = output_of(
      "groff -k -t -mandoc -Tutf8 -P-cbou -rLL=100n -ww '" + folder / "lull.1" + "' 2>&1", code);
  EXPECT_EQ(code, 0);
  EXPECT_THAT(text, HasSubstr("lull denoise [INPUT] [OUTPUT] [OPTION ...]"));
  EXPECT_THAT(text, Not(HasSubstr("warning:")));
}

TEST(Manual, HelpCommandPrintsTheHelpOfACommand) {
  EXPECT_EQ(printed({"help", "denoise"}), printed({"denoise", "--help"}));
  EXPECT_EQ(printed({"help"}), printed({"--help"}));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"help", "polish"},
                                                {"help", "--format", "pdf"},
                                                {"help", "denoise", "--format", "man"},
                                                {"completion"},
                                                {"completion", "fish"}}) {
    const Outcome outcome = run_lull(wrong);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  }
}

/// Asks bash for completions of the last word of `words`.
std::vector<std::string> completed(const std::vector<std::string>& words) {
  const Folder folder;
  write_bytes(folder / "completion", printed({"completion", "bash"}));
  std::string list;
  for (const std::string& word : words) list += " '" + word + "'";
  write_bytes(folder / "ask", "source '" + folder / "completion" + "'\ncd '" + folder / "." +
                                  "'\nCOMP_WORDS=(" + list +
                                  ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) +
                                  "\n_lull\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  int code = 0;
  std::istringstream text(output_of("bash --norc '" + folder / "ask" + "' 2>&1", code));
  EXPECT_EQ(code, 0);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

TEST(Completion, CompletesInBash) {
  if (!has("bash")) GTEST_SKIP() << "no bash here";
  EXPECT_THAT(completed({"lull", "den"}), ElementsAre("denoise"));
  EXPECT_THAT(completed({"lull", "--v"}), ElementsAre("--version"));
  EXPECT_THAT(completed({"lull", "denoise", "--sigm"}),
              ElementsAre("--sigma", "--sigma-scale", "--sigma-model"));
  EXPECT_THAT(completed({"lull", "denoise", "-p", ""}),
              ElementsAre("fast", "balanced", "high", "best", "paper"));
  EXPECT_THAT(completed({"lull", "denoise", "--profile", "=", "h"}), ElementsAre("high"));
  EXPECT_THAT(completed({"lull", "denoise", "--profile", "="}), testing::SizeIs(5));
  EXPECT_THAT(completed({"lull", "denoise", "--sigma", "="}), testing::IsEmpty());
  EXPECT_THAT(completed({"lull", "denoise", "--sigma", ""}), testing::IsEmpty());
  EXPECT_THAT(completed({"lull", "denoise", "-i", "comp"}), ElementsAre("completion"));  // a file
  EXPECT_THAT(completed({"lull", "compare", "as"}), ElementsAre("ask"));
  EXPECT_THAT(completed({"lull", "compare", "--c"}), ElementsAre("--csv"));
  EXPECT_THAT(completed({"lull", "completion", ""}), ElementsAre("bash", "zsh"));
  // Without a command name the command is denoise.
  EXPECT_THAT(completed({"lull", "as"}), ElementsAre("ask"));
  EXPECT_THAT(completed({"lull", "ask", "comp"}), ElementsAre("completion"));
  EXPECT_THAT(completed({"lull", "ask", "--sigm"}),
              ElementsAre("--sigma", "--sigma-scale", "--sigma-model"));
  EXPECT_THAT(completed({"lull", "ask", "-p", "h"}), ElementsAre("high"));
}

TEST(Completion, CompletesInZsh) {
  const std::string script = printed({"completion", "zsh"});
  EXPECT_TRUE(script.starts_with("#compdef lull\n"));
  if (!has("zsh")) GTEST_SKIP() << "no zsh here";
  const Folder folder;
  write_bytes(folder / "_lull", script);
  // Types into a zsh terminal: each word is completed with the tab key and then printed.
  write_bytes(folder / "ask",
              "zmodload zsh/zpty\n"
              "zpty -b z zsh -f\n"
              "zpty -w z \"PS1=; fpath=('" +
                  folder / "." +
                  "' \\$fpath); autoload -Uz compinit; compinit -D -u; "
                  "bindkey '^I' complete-word; lull() { print -r -- said: \\$*; }\"\n"
                  "zpty -w z $'lull denoi\\t--prof\\thi\\t'\n"
                  "zpty -r -m z out '*said: denoise --profile high*' && echo works\n");
  int code = 0;
  EXPECT_THAT(output_of("timeout 20 zsh -f '" + folder / "ask" + "' 2>&1", code),
              HasSubstr("works"));
}

}  // namespace
}  // namespace lull::tools
