#include "io/segments/manifest.h"

#include <charconv>
#include <cstdio>

namespace lull::io {
namespace {

constexpr std::string_view head = "lull job 1\n";

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

/// Takes words off a line. What is not as it should be makes it bad for good.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    good_ &= !word.empty() && end + 1 != rest_.size();  // a space leads to another
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  /// From 0.
  template <class Number>
  Number number() {
    return parse<Number>(word(), 10);
  }
  std::string unescaped() {
    std::string result;
    std::string_view text = word();
    if (text == "%") return result;  // an empty one
    for (; !text.empty(); text.remove_prefix(1)) {
      if (text[0] != '%') {
        result += text[0];
        continue;
      }
      good_ &= text.size() > 2;
      result += static_cast<char>(parse<unsigned char>(text.substr(1, 2), 16));
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

bool read_line(std::string_view line, Manifest& manifest) {
  Words words(line);
  const std::string_view kind = words.word();
  if (kind == "fact") {
    std::string name = words.unescaped();
    manifest.facts.push_back({std::move(name), words.unescaped()});
  } else if (kind == "threads") {
    manifest.threads = words.number<int>();
  } else if (kind == "segment") {
    SegmentRecord& record = manifest.segments[words.number<std::int64_t>()];
    record.frames = words.number<std::int64_t>();
    record.bytes = words.number<std::int64_t>();
    record.sha256 = words.word();
  } else if (kind == "result") {
    Manifest::Identity& result = manifest.result.emplace(Manifest::Identity{});
    result.inode = words.number<std::uint64_t>();
    result.bytes = words.number<std::uint64_t>();
    result.changed_ns = words.number<std::uint64_t>();
  } else {
    return false;
  }
  return words.done();
}

std::string digest_of(std::string_view text) {
  Sha256 digest;
  digest.add(text.data(), text.size());
  return digest.take();
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  std::string text(head);
  for (const auto& [name, value] : manifest.facts)
    text += "fact " + escaped(name) + " " + escaped(value) + "\n";
  text += "threads " + std::to_string(manifest.threads) + "\n";
  for (const auto& [number, record] : manifest.segments)
    text += "segment " + std::to_string(number) + " " + std::to_string(record.frames) + " " +
            std::to_string(record.bytes) + " " + record.sha256 + "\n";
  if (manifest.result)
    text += "result " + std::to_string(manifest.result->inode) + " " +
            std::to_string(manifest.result->bytes) + " " +
            std::to_string(manifest.result->changed_ns) + "\n";
  return text + "sha256 " + digest_of(text) + "\n";
}

std::optional<Manifest> parse_manifest(std::string_view text) {
  const std::size_t end = text.rfind("sha256 ");
  if (end == text.npos || (end > 0 && text[end - 1] != '\n')) return std::nullopt;
  const std::string_view lines = text.substr(0, end);
  if (!lines.starts_with(head)) return std::nullopt;
  if (text.substr(end) != "sha256 " + digest_of(lines) + "\n") return std::nullopt;
  Manifest manifest;
  for (std::size_t at = head.size(); at < lines.size();) {
    const std::size_t stop = lines.find('\n', at);
    if (!read_line(lines.substr(at, stop - at), manifest)) return std::nullopt;
    at = stop + 1;
  }
  return manifest;
}

}  // namespace lull::io
