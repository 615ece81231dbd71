#include "tools/command_line/parser.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "tools/command_line/command_table.h"
#include "tools/command_line/command_texts.h"
#include "tools/command_line/completion.h"
#include "tools/command_line/help.h"
#include "tools/command_line/manual.h"
#include "tools/commands/commands.h"
#include "tools/doctor/doctor.h"
#include "tools/options/suggestion.h"

namespace lull::tools {
namespace {

class Parser {
 public:
  CommandLine parse(std::vector<std::string> arguments);

 private:
  std::vector<std::string> command_names() const;
  bool is_command(const std::string& word) const;
  void refuse_stray_word(const std::string& word) const;
  [[noreturn]] void refuse_rest(const CLI::App& command) const;

  const CLI::App* selected() const;
  Manual manual() const;
  ManualCommand manual_of(const CLI::App& app) const;
  std::string help(bool full) const;
  std::string requested_text() const;
  void apply_options();

  CommandTable table_;
  CLI::App& app_ = table_.app;
  GivenCommands& given_ = table_.given;
};

std::vector<std::string> Parser::command_names() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

bool Parser::is_command(const std::string& word) const {
  const std::vector<std::string> names = command_names();
  return std::ranges::find(names, word) != names.end();
}

/// Throws an error if the first argument, `word`, is probably a misspelt command: it is not the
/// name of an existing file, and contains no character of paths, patterns or network addresses.
void Parser::refuse_stray_word(const std::string& word) const {
  std::error_code ignored;
  const bool bare = !word.empty() && word.find_first_of("-./*?[#%:") == std::string::npos;
  if (!bare || std::filesystem::exists(word, ignored)) return;
  throw InvalidArgument("'" + word + "' is neither a file nor a command (the commands are " +
                        joined(command_names()) + "); " +
                        did_you_mean(word, command_names(), "see lull --help"));
}

/// Throws an error if `command` does not accept a word of the command line.
void Parser::refuse_rest(const CLI::App& command) const {
  const std::vector<std::string> rest = command.remaining();
  const auto looks_like_option = [](const std::string& word) {
    return word.size() > 1 && word.front() == '-';
  };
  const std::string of = command.get_name() == "lull" ? "lull" : "lull " + command.get_name();
  const auto option = std::ranges::find_if(rest, looks_like_option);
  if (option == rest.end()) {
    const bool denoises = command.get_name() == "denoise";
    throw InvalidArgument(
        "'" + rest.front() + "' is an unexpected argument (" + of +
        (denoises ? " takes one input and one output" : " takes no further operands") +
        "); quote names with spaces, or see " + of + " --help");
  }
  const std::string name = option->substr(0, option->find('='));
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options())
    for (const std::string& text : known->get_lnames()) names.push_back("--" + text);
  throw InvalidArgument("no such option: " + name + " (of " + of + "); " +
                        did_you_mean(name, names, "see " + of + " --help-all"));
}

const CLI::App* Parser::selected() const {
  const auto chosen = app_.get_subcommands();
  return chosen.empty() ? nullptr : chosen.front();
}

ManualCommand Parser::manual_of(const CLI::App& app) const {
  const bool program = &app == &app_;
  const CommandTexts& texts = texts_of(program ? "" : app.get_name());
  ManualCommand command{.name = program ? "lull" : "lull " + app.get_name(),
                        .summary = std::string(texts.summary),
                        .options = {},
                        .footer = std::string(texts.footer),
                        .brief_usage = std::string(texts.brief_usage),
                        .brief_footer = std::string(texts.brief_footer)};
  for (const CLI::Option* option : app.get_options()) {
    ManualOption row;
    for (const std::string& text : option->get_snames()) row.names.push_back("-" + text);
    for (const std::string& text : option->get_lnames()) row.names.push_back("--" + text);
    if (row.names.empty()) row.names.push_back(option->get_name());
    row.required = option->get_required();
    if (option->get_items_expected_max() > 0) row.value = option->get_type_name();
    // The name of CLI11's default group, "OPTIONS" or "Options", depends on the version. The manual
    // always uses "Options".
    row.group = option->get_group() == "OPTIONS" ? "Options" : option->get_group();
    row.help = option->get_description();
    const auto brief = table_.briefs.find(option);
    row.brief = brief == table_.briefs.end() ? row.help : brief->second;
    command.options.push_back(std::move(row));
  }
  // The manual lists operands first, and --help and --help-all at the end of the first group.
  const auto own = std::ranges::find_if_not(command.options, &ManualOption::is_help);
  const std::string first_group = own == command.options.end() ? "Options" : own->group;
  for (ManualOption& option : command.options)
    if (option.is_help()) option.group = first_group;
  std::ranges::stable_sort(command.options, {}, [&](const ManualOption& option) {
    return option.operand() ? 0 : option.is_help() ? 2 : option.group == first_group ? 1 : 3;
  });
  return command;
}

Manual Parser::manual() const {
  Manual manual{.program = manual_of(app_), .commands = {}};
  for (const CLI::App* command : app_.get_subcommands({}))
    manual.commands.push_back(manual_of(*command));
  return manual;
}

/// Returns the help of the selected command, or of the program.
std::string Parser::help(bool full) const {
  const CLI::App* command = selected();
  if (!command) return full ? full_help(manual()) : basic_help(manual());
  return full ? full_help(manual_of(*command)) : basic_help(manual_of(*command));
}

[[noreturn]] void refuse_choice(const std::string& problem, const std::string& word,
                                const std::vector<std::string>& choices) {
  throw InvalidArgument(problem + " (must be one of " + joined(choices) + "); " +
                        did_you_mean(word, choices, "see lull --help"));
}

/// Returns the output of `lull help` and `lull completion`.
std::string Parser::requested_text() const {
  if (given_.text.shell == "bash") return bash_completion(manual());
  if (given_.text.shell == "zsh") return zsh_completion(manual());
  if (!given_.text.shell.empty())
    refuse_choice("no completion for '" + given_.text.shell + "'", given_.text.shell,
                  {"bash", "zsh"});
  if (given_.text.format != "text" && !given_.text.topic.empty())
    throw InvalidArgument("--format " + given_.text.format +
                          " with a command (manuals describe all commands); leave one out");
  if (given_.text.format == "markdown") return markdown(manual());
  if (given_.text.format == "man") return man_page(manual());
  if (given_.text.format != "text")
    refuse_choice("--format " + given_.text.format, given_.text.format,
                  {"text", "markdown", "man"});
  if (given_.text.topic.empty()) return basic_help(manual());
  for (const CLI::App* command : app_.get_subcommands({}))
    if (command->get_name() == given_.text.topic) return basic_help(manual_of(*command));
  refuse_choice("no command '" + given_.text.topic + "'", given_.text.topic, command_names());
}

std::string without_full_stop(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

std::vector<std::string> names_of_variables() {
  std::vector<std::string> names;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

/// Applies the options from the settings file, the environment and the command line.
void Parser::apply_options() {
  const auto options = table_.table_options.find(selected());
  if (options == table_.table_options.end()) return;
  const CommandTable::TableOptions& own = options->second;
  CommandSettings command{
      .command = selected()->get_name(), .names = command_names(), .rows = own.rows};
  const auto is = [](std::string_view names) {
    return [names](const OptionValue& value) { return value.row.names == names; };
  };
  command.is_part = command.command == "denoise" && std::ranges::any_of(own.given, is("--job"));
  const auto variable = [](const std::string& name) -> const char* {
    return std::getenv(name.c_str());
  };
  apply_values(with_settings(command, own.given, variable), *own.target);
  const std::string ignored = misspelt_variables(names_of_variables());
  if (!ignored.empty() && !own.target->run.quiet)
    std::fprintf(stderr, "lull: %s\n", ignored.c_str());
}

CommandLine Parser::parse(std::vector<std::string> arguments) {
  if (arguments.empty())
    throw InvalidArgument("no arguments; use lull INPUT OUTPUT, or see lull --help");
  constexpr std::string_view own[] = {"-h", "--help", "--help-all", "--version"};
  const std::string& first = arguments.front();
  if (!is_command(first) && std::ranges::find(own, first) == std::end(own)) {
    refuse_stray_word(first);
    arguments.insert(arguments.begin(), "denoise");
  }
  std::ranges::reverse(arguments);  // the order that CLI11 expects
  try {
    app_.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return {{}, help(false)};
  } catch (const CLI::CallForAllHelp&) {
    return {{}, help(true)};
  } catch (const CLI::CallForVersion& e) {
    return {{}, std::string(e.what()) + "\n"};
  } catch (const CLI::ExtrasError&) {
    refuse_rest(selected() ? *selected() : app_);
  } catch (const CLI::ParseError& e) {
    // The parser reports misspelt words before missing options, because a missing option may be a
    // misspelt option.
    if (selected() && !selected()->remaining().empty()) refuse_rest(*selected());
    throw InvalidArgument(without_full_stop(e.what()) + "; see lull " +
                          (selected() ? selected()->get_name() + " " : "") + "--help");
  }
  apply_options();
  if (given_.denoise.run.job.folder.empty()) assign_operands(given_.denoise);
  assign_operands(given_.plan);
  const std::string command = selected()->get_name();
  if (command == "denoise") return {[o = given_.denoise] { return denoise(o); }, {}};
  if (command == "plan")
    return {[o = given_.plan, json = given_.json] { return plan(o, json); }, {}};
  if (command == "join") return {[o = given_.join] { return join(o); }, {}};
  if (command == "report") return {[o = given_.report] { return report(o); }, {}};
  if (command == "bids") return {[o = given_.bids] { return bids(o); }, {}};
  if (command == "preview") return {[o = given_.preview] { return preview(o); }, {}};
  if (command == "compare") return {[o = given_.compare] { return compare(o); }, {}};
  if (command == "noise") return {[o = given_.noise] { return noise(o); }, {}};
  if (command == "clean") return {[o = given_.clean] { return clean(o); }, {}};
  if (command == "probe")
    return {[o = given_.probe, json = given_.json] { return probe(o, json); }, {}};
  if (command == "devices") return {devices, {}};
  if (command == "doctor") return {doctor, {}};
  return {{}, requested_text()};
}

}  // namespace

CommandLine parse(int argc, const char* const* argv) {
  return Parser().parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

}  // namespace lull::tools
