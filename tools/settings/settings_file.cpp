#include "tools/settings/settings_file.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "core/error.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

constexpr std::size_t max_file_size = 1 << 20;

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

/// Reads one line of a settings file from left to right.
class SettingsLine {
 public:
  SettingsLine(std::string_view text, std::string place) : rest_(text), place_(std::move(place)) {}

  [[noreturn]] void refuse(const std::string& problem) const {
    throw InvalidArgument(place_ + ": " + problem + "; see docs/reference/settings.md");
  }

  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }
  /// Returns whether the rest of the line is empty or a comment.
  bool at_end() {
    skip_spaces();
    return rest_.empty() || rest_.front() == '#';
  }
  void require_end() {
    if (!at_end()) refuse("'" + std::string(rest_) + "' is unexpected (one value per line)");
  }
  bool take(char c) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string key() {
    skip_spaces();
    const auto end = std::ranges::find_if_not(rest_, is_key_character);
    const auto size = static_cast<std::size_t>(end - rest_.begin());
    if (size == 0) refuse("expected a name such as profile (quoted names are not supported)");
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }

  void value(Setting& setting) {
    if (take('[')) {
      setting.kind = Setting::Kind::array;
      while (!take(']')) {
        Setting::Kind ignored;
        setting.values.push_back(scalar(ignored));
        if (ignored == Setting::Kind::boolean) refuse("an array must not contain booleans");
        if (take(',')) continue;
        if (!take(']')) refuse("an array must end with ] on the same line");
        break;
      }
      return;
    }
    setting.values.push_back(scalar(setting.kind));
  }

 private:
  std::string scalar(Setting::Kind& kind) {
    skip_spaces();
    kind = Setting::Kind::text;
    if (rest_.starts_with("\"\"\"") || rest_.starts_with("'''"))
      refuse("strings of several lines are not supported");
    if (take('\'')) return literal_string();
    if (take('"')) return basic_string();
    const std::string word(rest_.substr(0, rest_.find_first_of(" \t,]#")));
    rest_.remove_prefix(word.size());
    if (word.empty()) refuse("a value is missing");
    if (word == "true" || word == "false") {
      kind = Setting::Kind::boolean;
      return word;
    }
    kind = Setting::Kind::number;
    return decimal(word);
  }

  /// Checks a decimal number of TOML. Returns the number without underscores and plus sign.
  std::string decimal(const std::string& word) const {
    std::string digits;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const bool between =
          i > 0 && i + 1 < word.size() && is_digit(word[i - 1]) && is_digit(word[i + 1]);
      if (word[i] == '_' && between) continue;
      digits += word[i];
    }
    if (digits.starts_with('+')) digits.erase(0, 1);
    const std::string unsigned_digits = digits.substr(digits.starts_with('-') ? 1 : 0);
    const std::size_t dot = unsigned_digits.find('.');
    const bool bare_dot =
        dot != std::string::npos &&
        (dot == 0 || dot + 1 == unsigned_digits.size() || !is_digit(unsigned_digits[dot - 1]) ||
         !is_digit(unsigned_digits[dot + 1]));
    const bool leading_zero =
        unsigned_digits.size() > 1 && unsigned_digits[0] == '0' && is_digit(unsigned_digits[1]);
    if (unsigned_digits.empty() || !is_digit(unsigned_digits[0]) || bare_dot || leading_zero ||
        !number<double>(digits))
      refuse("'" + word + "' is not a value (words need quotes, as in \"" + word + "\")");
    return digits;
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  std::string literal_string() {
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) refuse("a string must end on the same line");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string basic_string() {
    std::string text;
    while (!rest_.empty() && rest_.front() != '"') {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '\\') c = escaped();
      text += c;
    }
    if (rest_.empty()) refuse("a string must end on the same line");
    rest_.remove_prefix(1);
    return text;
  }

  char escaped() {
    constexpr std::string_view names = "\"\\tnr", meanings = "\"\\\t\n\r";
    const std::size_t which = rest_.empty() ? names.npos : names.find(rest_.front());
    if (which == names.npos)
      refuse("a backslash in a string must be followed by \", \\, t, n or r (use '...' for paths)");
    rest_.remove_prefix(1);
    return meanings[which];
  }

  std::string_view rest_;
  std::string place_;
};

}  // namespace

std::vector<Setting> parse_settings(const std::string& text, const std::string& name) {
  std::vector<Setting> settings;
  std::set<std::string> sections;
  std::string section;
  int number = 0;
  for (std::string line : split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    SettingsLine reader(line, name + ":" + std::to_string(number));
    const auto is_control = [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    };
    if (std::ranges::any_of(line, is_control)) reader.refuse("the line has control characters");
    if (reader.at_end()) continue;
    if (reader.take('[')) {
      section = reader.key();
      if (!reader.take(']')) reader.refuse("a table must be [NAME], the name of a command");
      if (!sections.insert(section).second) reader.refuse("[" + section + "] appears twice");
      reader.require_end();
      continue;
    }
    Setting setting{.section = section, .key = reader.key(), .values = {}, .line = number};
    if (!reader.take('=')) reader.refuse("expected = after '" + setting.key + "'");
    reader.value(setting);
    reader.require_end();
    for (const Setting& other : settings)
      if (other.section == section && other.key == setting.key)
        reader.refuse("'" + setting.key + "' is set twice (also in line " +
                      std::to_string(other.line) + ")");
    settings.push_back(std::move(setting));
  }
  return settings;
}

std::vector<Setting> read_settings(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  for (char c; text.size() <= max_file_size && stream.get(c);) text += c;
  if (!stream.eof() && text.size() <= max_file_size)
    throw NoInput("cannot read the settings file '" + file + "'; check --config or LULL_CONFIG");
  if (text.size() > max_file_size)
    throw InvalidArgument("the settings file '" + file + "' is larger than 1 MiB; check the name");
  return parse_settings(text, file);
}

}  // namespace lull::tools
