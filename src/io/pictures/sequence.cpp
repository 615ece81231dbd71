#include "io/pictures/sequence.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/error.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_digits = 18;  // digits of numbers that fit in 64 bits

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the position in `path` at which the file name begins, after all folders.
std::size_t last_part(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

/// Returns the minimum number of digits of the number pattern at position `at` of `path`; 0 if
/// there is no pattern. Sets `end` to the position after the pattern.
int digits_at(const std::string& path, std::size_t at, std::size_t& end) {
  end = at;
  if (path[at] == '#') {
    while (end < path.size() && path[end] == '#') ++end;
    return static_cast<int>(std::min(end - at, max_digits));
  }
  if (path[at] != '%') return 0;
  ++end;
  while (end < path.size() && is_digit(path[end])) ++end;
  if (end == path.size() || path[end] != 'd') return 0;
  int digits = 0;
  std::from_chars(path.data() + at + 1, path.data() + end, digits);
  ++end;
  return std::clamp(digits, 1, static_cast<int>(max_digits));
}

/// Returns whether the name `a` precedes the name `b`. The function compares runs of digits as
/// numbers, and all other characters as bytes.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto run = [](const std::string& s, std::size_t& at) {
        while (at + 1 < s.size() && s[at] == '0' && is_digit(s[at + 1])) ++at;
        const std::size_t start = at;
        while (at < s.size() && is_digit(s[at])) ++at;
        return std::string_view(s).substr(start, at - start);
      };
      const std::string_view x = run(a, i), y = run(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
    }
  }
  if (i < a.size() || j < b.size()) return i == a.size();
  return a < b;  // they are equal apart from leading zeros
}

/// Calls use(name) for each name in the folder of `path`.
template <class Use>
void each_name_in_folder(const std::string& path, Use&& use) {
  const std::string folder = path.substr(0, last_part(path));
  std::error_code code;
  fs::directory_iterator entries(folder.empty() ? "." : folder, code);
  if (code) throw NoInput("cannot read '" + path + "' (its folder: " + code.message() + ")");
  for (; entries != fs::directory_iterator(); entries.increment(code)) {
    if (code) break;
    use(entries->path().filename().string());
  }
}

std::vector<SequenceFile> find_numbered(const std::string& path, const NumberPattern& pattern) {
  std::vector<SequenceFile> files;
  each_name_in_folder(path, [&](const std::string& name) {
    if (const auto number = number_in(name, pattern))
      files.push_back({path.substr(0, last_part(path)) + name, *number, {}});
  });
  std::ranges::sort(files, {}, &SequenceFile::number);
  return files;
}

std::vector<SequenceFile> find_matches(const std::string& path) {
  const std::string folder = path.substr(0, last_part(path));
  const std::string pattern = path.substr(last_part(path));
  const std::optional<StarPattern> star = star_pattern(path);
  std::vector<SequenceFile> files;
  each_name_in_folder(path, [&](const std::string& name) {
    if (::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) != 0) return;
    SequenceFile file{folder + name, 0, {}};
    if (star)
      file.match = file.path.substr(star->before.size(),
                                    file.path.size() - star->before.size() - star->after.size());
    files.push_back(std::move(file));
  });
  std::ranges::sort(files, natural_less, &SequenceFile::path);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].number = static_cast<std::int64_t>(i);
  return files;
}

}  // namespace

std::string NumberPattern::name(std::int64_t number) const {
  std::string text = std::to_string(number);
  const auto min_digits = static_cast<std::size_t>(digits);
  if (text.size() < min_digits) text.insert(0, min_digits - text.size(), '0');
  return before + text + after;
}

std::optional<std::int64_t> number_in(const std::string& name, const NumberPattern& pattern) {
  const std::string before = pattern.before.substr(last_part(pattern.before));
  if (name.size() <= before.size() + pattern.after.size() || !name.starts_with(before) ||
      !name.ends_with(pattern.after))
    return std::nullopt;
  const std::string digits =
      name.substr(before.size(), name.size() - before.size() - pattern.after.size());
  const auto min_digits = static_cast<std::size_t>(pattern.digits);
  if (!std::ranges::all_of(digits, is_digit) || digits.size() > max_digits ||
      digits.size() < min_digits || (digits.size() > min_digits && digits[0] == '0'))
    return std::nullopt;
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::optional<NumberPattern> number_pattern(const std::string& path) {
  NumberPattern pattern;
  const std::size_t start = last_part(path);
  std::string plain = path.substr(0, start);
  int numbers = 0;
  for (std::size_t at = start; at < path.size();) {
    std::size_t end = at;
    if (path.compare(at, 2, "%%") == 0) {
      plain += '%';
      at += 2;
    } else if (const int digits = digits_at(path, at, end); digits > 0) {
      pattern.digits = digits;
      pattern.before = std::move(plain);
      plain.clear();
      at = end;
      ++numbers;
    } else {
      plain += path[at++];
    }
  }
  if (numbers == 0) return std::nullopt;
  if (numbers > 1)
    throw InvalidArgument("'" + path + "' has several numbers (a sequence has one); leave one");
  pattern.after = std::move(plain);
  return pattern;
}

std::optional<StarPattern> star_pattern(const std::string& path) {
  const std::size_t start = last_part(path), star = path.find('*', start);
  if (star == std::string::npos || path.find_first_of("*?[\\", start) != star ||
      path.find_first_of("*?[\\", star + 1) != std::string::npos)
    return std::nullopt;
  return StarPattern{path.substr(0, star), path.substr(star + 1)};
}

bool is_glob(const std::string& path) {
  return path.find_first_of("*?[", last_part(path)) != std::string::npos;
}

std::vector<SequenceFile> find_sequence(const std::string& path) {
  const std::optional<NumberPattern> numbers = number_pattern(path);
  std::vector<SequenceFile> files = numbers ? find_numbered(path, *numbers) : find_matches(path);
  if (files.empty()) throw NoInput("no file matches '" + path + "'");
  return files;
}

std::vector<SequenceFile> existing_numbers(const std::string& path) {
  const std::optional<NumberPattern> numbers = number_pattern(path);
  try {
    return numbers ? find_numbered(path, *numbers) : std::vector<SequenceFile>();
  } catch (const NoInput&) {  // the error is reported when the first file is written
    return {};
  }
}

bool is_sequence(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return false;
  return is_glob(path) || number_pattern(path).has_value();
}

std::string missing_numbers(const std::vector<SequenceFile>& files) {
  std::string list;
  for (std::size_t i = 1; i < files.size(); ++i) {
    const std::int64_t first = files[i - 1].number + 1, last = files[i].number - 1;
    if (first > last) continue;
    list += (list.empty() ? "" : ", ") + std::to_string(first);
    if (last > first) list += "-" + std::to_string(last);
  }
  return list;
}

}  // namespace lull::io
