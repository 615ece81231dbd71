#pragma once
// The texts of a command in the help and the manual, except the texts of its options.

#include <string_view>

namespace lull::tools {

struct CommandTexts {
  std::string_view name;  // name of the command; "" stands for the program itself
  std::string_view summary;
  std::string_view footer;             // text at the end of --help-all and of the manuals
  std::string_view brief_footer = {};  // text at the end of --help; empty: `footer`
  std::string_view brief_usage = {};   // for --help; empty: made from the operands
};

/// Returns the texts of a command, or of the program itself for an empty name.
[[nodiscard]] const CommandTexts& texts_of(std::string_view command);

}  // namespace lull::tools
