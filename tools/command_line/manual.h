#pragma once
// The commands and options as data, and the manuals generated from these data.

#include <string>
#include <vector>

namespace lull::tools {

struct ManualOption {
  std::vector<std::string> names;  // "-i", "--input"; or one name without dash for an operand
  std::string value;               // placeholder of the value; empty: a flag
  std::string group;               // heading
  std::string help;                // one line
  std::string brief;  // short text for the basic help; empty: the option is not in the basic help
  bool required = false;
  bool operand() const { return !names.front().starts_with('-'); }
  bool is_help() const { return names.back().starts_with("--help"); }
};

struct ManualCommand {
  std::string name, summary;
  std::vector<ManualOption> options;
  std::string footer;             // paragraphs; lines that begin with two spaces are kept unchanged
  std::string brief_usage = {};   // usage line of the basic help; empty: made from the operands
  std::string brief_footer = {};  // footer of the basic help; empty: `footer`
};

struct Manual {
  ManualCommand program;
  std::vector<ManualCommand> commands;
};

/// Splits a value such as "fast|balanced|high" into words. Returns an empty list if the option
/// accepts other values.
[[nodiscard]] std::vector<std::string> choices(const std::string& value);

/// Returns the usage line, such as "lull probe INPUT [OPTION ...]".
[[nodiscard]] std::string usage(const ManualCommand& command);

[[nodiscard]] std::string markdown(const Manual& manual);
/// Returns the man page lull(1).
[[nodiscard]] std::string man_page(const Manual& manual);

}  // namespace lull::tools
