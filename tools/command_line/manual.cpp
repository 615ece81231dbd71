#include "tools/command_line/manual.h"

#include <algorithm>
#include <string_view>

#include "core/version.h"

namespace lull::tools {
namespace {

/// Splits the footer of a command. The function removes the indentation of each indented group of
/// lines, and passes the group to `code`. The function passes each other paragraph to `text`.
template <class Text, class Code>
void split_footer(std::string_view footer, Text&& text, Code&& code) {
  std::string run;
  bool in_code = false;
  const auto flush = [&] {
    if (!run.empty()) in_code ? code(run) : text(run);
    run.clear();
  };
  while (!footer.empty()) {
    const std::size_t end = std::min(footer.find('\n'), footer.size());
    const std::string_view line = footer.substr(0, end);
    footer.remove_prefix(std::min(end + 1, footer.size()));
    const bool is_code = line.starts_with("  ");
    if (line.empty() || is_code != in_code) flush();
    in_code = is_code;
    if (!line.empty()) run += std::string(is_code ? line.substr(2) : line) + "\n";
  }
  flush();
}

/// Returns the headings of the option groups, in order of appearance.
std::vector<std::string> groups_of(const ManualCommand& command) {
  std::vector<std::string> groups;
  for (const ManualOption& option : command.options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  return groups;
}

/// Escapes a string for a cell of a Markdown table.
std::string escape_markdown(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("|*_<\\`").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Formats a string as Markdown code. Within backticks, only '|' needs an escape.
std::string as_code(std::string_view text) {
  std::string result = "`";
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result + "`";
}

void append_markdown(std::string& out, const ManualCommand& command) {
  for (const std::string& group : groups_of(command)) {
    out += "\n### " + group + "\n\n| | |\n|---|---|\n";
    for (const ManualOption& option : command.options) {
      if (option.group != group) continue;
      std::string names;
      for (const std::string& name : option.names)
        names += (names.empty() ? "" : ", ") + as_code(name);
      if (!option.value.empty()) names += " " + as_code(option.value);
      out += "| " + names + " | " + escape_markdown(option.help) + " |\n";
    }
  }
  split_footer(
      command.footer, [&](const std::string& text) { out += "\n" + text; },
      [&](const std::string& code) { out += "\n```\n" + code + "```\n"; });
}

std::string escape_man(std::string_view text) {
  std::string result;
  bool line_starts = true;
  for (const char c : text) {
    if (line_starts && (c == '.' || c == '\'')) result += "\\&";
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    line_starts = c == '\n';
  }
  return result;
}

void append_man(std::string& out, const ManualCommand& command) {
  for (const std::string& group : groups_of(command)) {
    out += ".PP\n\\fI" + escape_man(group) + "\\fR\n";
    for (const ManualOption& option : command.options) {
      if (option.group != group) continue;
      std::string names;
      for (const std::string& name : option.names)
        names += (names.empty() ? "\\fB" : ", \\fB") + escape_man(name) + "\\fR";
      if (!option.value.empty()) names += " \\fI" + escape_man(option.value) + "\\fR";
      out += ".TP\n" + names + "\n" + escape_man(option.help) + "\n";
    }
  }
  split_footer(
      command.footer, [&](const std::string& text) { out += ".PP\n" + escape_man(text); },
      [&](const std::string& code) {
        out += ".PP\n.nf\n.RS 4\n" + escape_man(code) + ".RE\n.fi\n";
      });
}

}  // namespace

std::string usage(const ManualCommand& command) {
  std::string text = command.name;
  for (const ManualOption& option : command.options)
    if (option.operand())
      text += option.required ? " " + option.names.front() : " [" + option.names.front() + "]";
  return text + " [OPTION ...]";
}

std::vector<std::string> choices(const std::string& value) {
  if (value == "DEVICE") return {"auto", "cpu", "reference", "cuda"};
  std::vector<std::string> words(1);
  for (const char c : value) {
    const bool in_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (c != '|' && !in_word) return {};
    if (c == '|')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words.size() > 1 ? words : std::vector<std::string>{};
}

std::string markdown(const Manual& manual) {
  std::string out =
      "# The command line\n\n"
      "This page is the output of `lull help --format markdown`; `./run manual` updates it.\n\n" +
      manual.program.summary + "\n\n| command | |\n|---|---|\n";
  for (const ManualCommand& command : manual.commands) {
    std::string anchor = command.name;
    std::ranges::replace(anchor, ' ', '-');
    out += "| [`" + command.name + "`](#" + anchor + ") | " + command.summary + " |\n";
  }
  append_markdown(out, manual.program);
  for (const ManualCommand& command : manual.commands) {
    out += "\n## " + command.name + "\n\n" + command.summary + ".\n\n```\n" + usage(command) +
           "\n```\n";
    append_markdown(out, command);
  }
  return out;
}

std::string man_page(const Manual& manual) {
  std::string out = ".TH LULL 1 \"\" \"lull " + std::string(version) +
                    "\" \"User Commands\"\n.SH NAME\nlull \\- denoise video, images and volumes\n"
                    ".SH SYNOPSIS\n.B lull\n\\fICOMMAND\\fR [\\fIOPTION\\fR ...]\n"
                    ".SH DESCRIPTION\n" +
                    escape_man(manual.program.summary) + "\n";
  append_man(out, manual.program);
  out += ".SH COMMANDS\n";
  for (const ManualCommand& command : manual.commands) {
    out += ".SS " + escape_man(usage(command)) + "\n" + escape_man(command.summary) + ".\n";
    append_man(out, command);
  }
  return out + ".SH SEE ALSO\n.BR ffmpeg (1)\n";
}

}  // namespace lull::tools
