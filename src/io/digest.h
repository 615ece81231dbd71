#pragma once
// SHA-256 of strings and files in hexadecimal, and base64 (RFC 4648).

#include <stop_token>
#include <string>
#include <string_view>

namespace lull::io {

[[nodiscard]] std::string sha256_of(std::string_view text);
/// Returns the SHA-256 of a file's content; empty after a stop request through `stop`.
/// @throws NoInput  the file is not readable
[[nodiscard]] std::string sha256_of_file(const std::string& path, const std::stop_token& stop = {});

[[nodiscard]] std::string base64(std::string_view bytes);

/// Returns the versions of FFmpeg's libraries as a string such as "libavcodec 59.37.100,
/// libavformat ...".
[[nodiscard]] std::string library_versions();

}  // namespace lull::io
