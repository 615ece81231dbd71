#pragma once
// Properties of the build and the machine, for `lull --version` and `lull doctor`.

#include <string>

namespace lull::tools {

/// Returns the output of `lull --version`: one property per line, such as version, commit or
/// instruction sets.
[[nodiscard]] std::string version_text();

}  // namespace lull::tools
