#pragma once
// Generates completion scripts for shells.

#include <string>

#include "tools/command_line/manual.h"

namespace lull::tools {

/// For bash 4 or later. Users source the script, or install it as "lull" in bash's folder of
/// completions.
[[nodiscard]] std::string bash_completion(const Manual& manual);
/// For zsh. Users install the script as "_lull" in a folder of zsh's fpath.
[[nodiscard]] std::string zsh_completion(const Manual& manual);

}  // namespace lull::tools
