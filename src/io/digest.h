#pragma once
// SHA-256 of texts and files, in hexadecimal.

#include <stop_token>
#include <string>
#include <string_view>

namespace lull::io {

[[nodiscard]] std::string sha256_of(std::string_view text);
/// Of all that a file holds; empty if it was stopped. @throws NoInput  it cannot be read
[[nodiscard]] std::string sha256_of_file(const std::string& path, const std::stop_token& stop = {});

/// "libavcodec 59.37.100, libavformat ...": the versions of FFmpeg's libraries.
[[nodiscard]] std::string library_versions();

}  // namespace lull::io
