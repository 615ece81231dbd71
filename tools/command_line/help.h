#pragma once
// Formats the help texts for a terminal of 80 columns.

#include <string>

#include "tools/command_line/manual.h"

namespace lull::tools {

/// Returns the basic help (--help): at most 24 lines, for new users.
[[nodiscard]] std::string basic_help(const Manual& manual);
[[nodiscard]] std::string basic_help(const ManualCommand& command);
/// Returns the complete help (--help-all).
[[nodiscard]] std::string full_help(const Manual& manual);
[[nodiscard]] std::string full_help(const ManualCommand& command);

}  // namespace lull::tools
