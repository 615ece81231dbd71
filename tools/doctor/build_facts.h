#pragma once
// Facts about this build of lull and the machine, for `lull --version` and `lull doctor`.

#include <string>

namespace lull::tools {

/// Returns the output of `lull --version`: the version in the first line, then one line each for
/// the commit, the libraries of FFmpeg, CUDA and the instruction sets.
[[nodiscard]] std::string version_text();

}  // namespace lull::tools
