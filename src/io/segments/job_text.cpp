#include "io/segments/job_text.h"

#include <cstdio>

#include "io/digest.h"
#include "io/text_file.h"

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

std::string with_checksum(const std::string& lines) {
  return lines + "sha256 " + sha256_of(lines) + "\n";
}

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

int format_number(std::string_view text, std::string_view kind) {
  const std::string begin = "lull " + std::string(kind) + " ";
  if (!text.starts_with(begin)) return 0;
  text.remove_prefix(begin.size());
  const std::string_view number = text.substr(0, text.find('\n'));
  int value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool good = error == std::errc{} && stop == number.data() + number.size() && value > 0;
  return good ? value : 0;
}

std::string why_unreadable(std::string_view text, std::string_view kind, int known) {
  const int format = format_number(text, kind);
  if (format <= known) return "it is damaged";
  return "it has format " + std::to_string(format) + ", this version of lull reads up to format " +
         std::to_string(known);
}

std::string read_job_text(const std::string& path) {
  return read_text_if_exists(path, max_job_bytes).value_or("");
}

}  // namespace lull::io
