#pragma once
// What the command line offers, as data, and the manuals that are made of it.

#include <string>
#include <vector>

namespace lull::tools {

struct ManualOption {
  std::vector<std::string> names;  // "-i", "--input", or one name without dash: an operand
  std::string value;               // what stands for the value; empty: a flag
  std::string group;               // heading
  std::string help;                // one line
  std::string brief;               // a short one for the basic help; empty: not in it
  bool required = false;
  bool operand() const { return !names.front().starts_with('-'); }
};

struct ManualCommand {
  std::string name, summary;
  std::vector<ManualOption> options;
  std::string footer;             // paragraphs; lines that begin with two spaces stay as they are
  std::string brief_usage = {};   // in the basic help; empty: made of the operands
  std::string brief_footer = {};  // the same; empty: the footer
};

struct Manual {
  ManualCommand program;
  std::vector<ManualCommand> commands;
};

/// The words that may stand for a value written as "fast|balanced|high"; empty if others may, too.
[[nodiscard]] std::vector<std::string> choices(const std::string& value);

/// "lull probe INPUT [OPTION ...]"
[[nodiscard]] std::string usage(const ManualCommand& command);

/// docs/reference/cli.md.
[[nodiscard]] std::string markdown(const Manual& manual);
/// lull(1), for man.
[[nodiscard]] std::string man_page(const Manual& manual);

}  // namespace lull::tools
