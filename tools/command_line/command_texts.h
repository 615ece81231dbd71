#pragma once
// What the help says of each command beside its options.

#include <string_view>

namespace lull::tools {

struct CommandTexts {
  std::string_view name;  // "" is lull itself
  std::string_view summary;
  std::string_view footer;             // of --help-all and the manuals
  std::string_view brief_footer = {};  // of --help, where it is another
  std::string_view brief_usage = {};   // the same
};

/// Of one of lull's commands.
[[nodiscard]] const CommandTexts& texts_of(std::string_view command);

}  // namespace lull::tools
