#pragma once
// Scripts that complete the command line in shells.

#include <string>

#include "tools/command_line/manual.h"

namespace lull::tools {

/// To be sourced, or to lie as "lull" among bash's completions. Needs bash 4 and nothing else.
[[nodiscard]] std::string bash_completion(const Manual& manual);
/// To lie as "_lull" in a folder of zsh's fpath.
[[nodiscard]] std::string zsh_completion(const Manual& manual);

}  // namespace lull::tools
