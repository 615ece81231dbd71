#pragma once
// Help for the terminal, 80 columns wide.

#include <string>

#include "tools/command_line/manual.h"

namespace lull::tools {

/// What a newcomer needs, on one screen of 24 lines: --help.
[[nodiscard]] std::string basic_help(const Manual& manual);
[[nodiscard]] std::string basic_help(const ManualCommand& command);
/// Everything: --help-all.
[[nodiscard]] std::string full_help(const Manual& manual);
[[nodiscard]] std::string full_help(const ManualCommand& command);

}  // namespace lull::tools
