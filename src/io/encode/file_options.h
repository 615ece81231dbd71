#pragma once
// Detects encoder options that name files to read or write.

#include <string>
#include <utility>
#include <vector>

namespace lull::io {

/// Returns the first of these options (SinkOptions::vopts) that names a file, such as "stats" or
/// "x265-params: csv". Returns an empty text if no option names a file. Options from untrusted
/// sources must not name files.
[[nodiscard]] std::string option_with_file(
    const std::vector<std::pair<std::string, std::string>>& vopts);

}  // namespace lull::io
