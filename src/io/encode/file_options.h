#pragma once
// Detects encoder options whose value is a file name.

#include <string>
#include <utility>
#include <vector>

namespace lull::io {

/// Returns the first option in `vopts` (SinkOptions::vopts) whose value is a file name, such as
/// "stats" or "x265-params: csv"; empty if there is none. lull rejects options with file names from
/// untrusted sources.
[[nodiscard]] std::string option_with_file(
    const std::vector<std::pair<std::string, std::string>>& vopts);

}  // namespace lull::io
