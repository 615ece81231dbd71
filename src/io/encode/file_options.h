#pragma once
// Options by which encoders read and write files of their own.

#include <string>
#include <utility>
#include <vector>

namespace lull::io {

/// The first of these options (SinkOptions::vopts) that names a file to an encoder, as "stats" or
/// "x265-params: csv"; empty: none does. Options from other people must not name files.
[[nodiscard]] std::string option_with_file(
    const std::vector<std::pair<std::string, std::string>>& vopts);

}  // namespace lull::io
