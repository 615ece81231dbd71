#pragma once
// Completion scripts for shells.

#include <string>

#include "tools/command_line/manual.h"

namespace lull::tools {

/// Returns a script that can be sourced, or installed as "lull" in bash's folder of completions. It
/// requires bash 4 only.
[[nodiscard]] std::string bash_completion(const Manual& manual);
/// Returns a script that can be installed as "_lull" in a folder of zsh's fpath.
[[nodiscard]] std::string zsh_completion(const Manual& manual);

}  // namespace lull::tools
