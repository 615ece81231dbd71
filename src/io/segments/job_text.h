#pragma once
// Text files of a job: lines of words, with a checksum in the last line.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace lull::io {

/// Returns `text` as one word: '%', spaces and unprintable characters become %XX, and an empty
/// string becomes "%".
std::string escaped(std::string_view text);

/// Returns `lines` followed by a line with the SHA-256 of `lines`.
std::string with_checksum(const std::string& lines);
/// Calls `read` for each line after the line `head`, until `read` returns false for an invalid
/// line. Returns whether the first line is `head`, all lines are valid and the checksum is correct.
bool read_checked_lines(std::string_view text, std::string_view head,
                        const std::function<bool(std::string_view line)>& read);

/// Returns the format number N if the text begins with the line "lull KIND N"; 0 otherwise.
int format_number(std::string_view text, std::string_view kind);

/// Returns the reason why this version of lull cannot read a manifest or a plan (`kind`): damage,
/// or a format number above `known`.
std::string why_unreadable(std::string_view text, std::string_view kind, int known);

/// Maximum size in bytes of a manifest or a plan, sufficient for days of video.
inline constexpr std::size_t max_job_bytes = std::size_t{1} << 29;
/// Returns the text of a manifest or a plan; empty if the file does not exist.
/// @throws NoInput, BadData, IoError  like io::read_text()
std::string read_job_text(const std::string& path);

/// Maximum number of encoder threads that lull requests.
inline constexpr int max_threads = 1024;

/// Parses the words of a line. After an invalid word, done() returns false.
class LineParser {
 public:
  explicit LineParser(std::string_view line) : rest_(line) {}

  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    good_ &= !word.empty() && end + 1 != rest_.size();  // a space must be followed by a word
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  /// Parses a number that is not negative.
  template <class Number>
  Number number() {
    return parse<Number>(word(), 10);
  }
  /// Parses a number that may be negative.
  std::int64_t time() {
    const bool negative = rest_.starts_with('-');
    rest_.remove_prefix(negative ? 1 : 0);
    const auto value = number<std::int64_t>();
    return negative ? -value : value;
  }
  std::string unescaped() {
    std::string result;
    std::string_view text = word();
    if (text == "%") return result;  // an empty string
    for (; !text.empty(); text.remove_prefix(1)) {
      if (text[0] != '%') {
        result += text[0];
        continue;
      }
      const auto byte = parse<unsigned char>(text.substr(1, 2), 16);
      good_ &= text.size() > 2 && byte != 0;  // names and texts contain no null characters
      result += static_cast<char>(byte);
      text.remove_prefix(std::min<std::size_t>(2, text.size() - 1));
    }
    return result;
  }
  bool done() const { return good_ && rest_.empty(); }

 private:
  template <class Number>
  Number parse(std::string_view text, int base) {
    Number value{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    good_ &= error == std::errc{} && stop == text.data() + text.size() && value >= 0;
    return value;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace lull::io
