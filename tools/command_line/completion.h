#pragma once
// Generates completion scripts for shells.

#include <string>

#include "tools/command_line/manual.h"

namespace lull::tools {

/// Returns a script for bash 4 or later, to source or to install as "lull" in bash's folder of
/// completions.
[[nodiscard]] std::string bash_completion(const Manual& manual);
/// Returns a script for zsh, to install as "_lull" in a folder of zsh's fpath.
[[nodiscard]] std::string zsh_completion(const Manual& manual);

}  // namespace lull::tools
