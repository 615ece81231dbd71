#pragma once
// Determines facts about this build of lull and the machine, for `lull --version` and `lull
// doctor`.

#include <string>

namespace lull::tools {

/// Returns the output of `lull --version`: the first line contains the version. The commit, the
/// libraries of FFmpeg, CUDA and the instruction sets follow, each in a separate line.
[[nodiscard]] std::string version_text();

}  // namespace lull::tools
