#pragma once
// Properties of this build of lull and of the machine, for `lull --version` and `lull doctor`.

#include <string>

namespace lull::tools {

/// Returns the output of `lull --version`: the version, the commit, the libraries of FFmpeg, CUDA
/// and the instruction sets, each on one line.
[[nodiscard]] std::string version_text();

}  // namespace lull::tools
