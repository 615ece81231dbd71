#include "tools/command_line/help.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tools/options/suggestion.h"

namespace lull::tools {
namespace {

constexpr std::size_t width = 79;  // a line that fills the last column is wrapped by some terminals

/// Formats two strings as columns. The lines of `right` begin at character `column`.
std::string row(const std::string& left, std::string_view right, std::size_t column) {
  std::string text = "  " + left;
  // A list such as "fast|balanced|high" continues on the next line if the list exceeds the width.
  for (std::size_t line = 0; text.size() - line > width;) {
    const std::size_t bar = text.rfind('|', line + width - 1);
    if (bar == std::string::npos || bar <= line) break;
    text.insert(bar + 1, "\n    ");
    line = bar + 2;
  }
  if (text.size() + 2 > column) {
    text += "\n" + std::string(column, ' ');
  } else {
    text.resize(column, ' ');
  }
  const std::size_t text_width = width - column;
  while (right.size() > text_width) {
    std::size_t space = right.rfind(' ', text_width);
    if (space == std::string_view::npos) space = std::min(right.find(' '), right.size());
    text += std::string(right.substr(0, space)) + "\n" + std::string(column, ' ');
    right.remove_prefix(std::min(space + 1, right.size()));
  }
  return text + std::string(right) + "\n";
}

std::string summary_of(const ManualCommand& command) {
  return command.summary + (command.summary.ends_with('.') ? "\n" : ".\n");
}

/// Returns the list of commands, without the prefix "lull ".
std::string command_list(const Manual& manual) {
  std::string text = "Commands:\n";
  for (const ManualCommand& command : manual.commands)
    text += row(command.name.substr(command.name.rfind(' ') + 1), command.summary, 14);
  return text;
}

/// Returns the lines for all options that have a brief text. The help options come last.
std::string brief_options(const ManualCommand& command) {
  std::string text, help;
  for (const ManualOption& option : command.options) {
    if (option.brief.empty()) continue;
    constexpr std::size_t column = 26;
    std::string left = joined(option.names);
    // The left column contains the values of an option only if the values fit.
    if (left.size() + option.value.size() + 5 <= column && !option.value.empty())
      left += " " + option.value;
    (option.is_help() ? help : text) += row(left, option.brief, column);
  }
  return text + help;
}

std::string full_options(const ManualCommand& command) {
  std::string text, group;
  for (const ManualOption& option : command.options) {
    if (option.group != group) text += (text.empty() ? "" : "\n") + option.group + ":\n";
    group = option.group;
    text += row(joined(option.names) + (option.value.empty() ? "" : " " + option.value),
                option.help, 28);
  }
  return text;
}

std::string after_empty_line(const std::string& text) { return text.empty() ? "" : "\n" + text; }

std::string brief_footer(const ManualCommand& command) {
  return after_empty_line(command.brief_footer.empty() ? command.footer : command.brief_footer);
}

}  // namespace

std::string basic_help(const Manual& manual) {
  const ManualCommand& program = manual.program;
  // The help of the program omits two empty lines to fit on a screen.
  return summary_of(program) + "\n" + program.brief_usage + command_list(manual) + "\n" +
         brief_options(program) + brief_footer(program).substr(1);
}

std::string basic_help(const ManualCommand& command) {
  const std::string use =
      command.brief_usage.empty() ? "  " + usage(command) + "\n" : command.brief_usage;
  return summary_of(command) + "\n" + use + "\n" + brief_options(command) + brief_footer(command);
}

std::string full_help(const ManualCommand& command) {
  return summary_of(command) + "\n  " + usage(command) + "\n\n" + full_options(command) +
         after_empty_line(command.footer);
}

std::string full_help(const Manual& manual) {
  const ManualCommand& program = manual.program;
  std::string text = summary_of(program) + "\n" + program.brief_usage + "\n" +
                     command_list(manual) + "\n" + full_options(program) +
                     after_empty_line(program.footer);
  for (const ManualCommand& command : manual.commands)
    text += "\n" + std::string(width, '-') + "\n" + command.name + "\n\n" + full_help(command);
  return text;
}

}  // namespace lull::tools
