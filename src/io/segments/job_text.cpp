#include "io/segments/job_text.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include "io/digest.h"

namespace lull::io {

std::string escaped(std::string_view text) {
  if (text.empty()) return "%";
  std::string result;
  for (const char c : text) {
    if (c > ' ' && c < '\x7f' && c != '%') {
      result += c;
      continue;
    }
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
    result += code;
  }
  return result;
}

std::string with_checksum(const std::string& lines) { return lines + "sha256 " + sha256_of(lines) + "\n"; }

bool read_checked_lines(std::string_view text, std::string_view head,
                 const std::function<bool(std::string_view line)>& read) {
  const std::size_t end = text.rfind("sha256 ");
  if (end == text.npos || (end > 0 && text[end - 1] != '\n')) return false;
  const std::string_view lines = text.substr(0, end);
  if (!lines.starts_with(head)) return false;
  if (text.substr(end) != "sha256 " + sha256_of(lines) + "\n") return false;
  for (std::size_t at = head.size(); at < lines.size();) {
    const std::size_t stop = lines.find('\n', at);
    if (!read(lines.substr(at, stop - at))) return false;
    at = stop + 1;
  }
  return true;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace lull::io
