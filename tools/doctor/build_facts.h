#pragma once
// Returns properties of this build of lull and of the machine, for `lull --version` and `lull
// doctor`.

#include <string>

namespace lull::tools {

/// Returns the output of `lull --version`. Each line describes one property, for example the
/// version, the commit or the instruction sets.
[[nodiscard]] std::string version_text();

}  // namespace lull::tools
