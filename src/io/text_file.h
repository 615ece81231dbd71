#pragma once
// Small files of text beside videos: written whole or not at all.

#include <string>

namespace lull::io {

/// Written beside its name and renamed once it is on the disk.
/// @throws CannotCreate  it exists (without `overwrite`) or cannot be made
/// @throws IoError       the disk is full
void write_text(const std::string& path, const std::string& text, bool overwrite);

/// @throws NoInput  there is none, or it cannot be read
/// @throws BadData  it is larger than `most_bytes`
[[nodiscard]] std::string read_text(const std::string& path, std::size_t most_bytes);

}  // namespace lull::io
