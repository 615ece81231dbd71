#pragma once
// Converts the strings of options to values. The functions throw InvalidArgument for invalid
// strings.

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tools/options/suggestion.h"

namespace lull::tools {

[[noreturn]] inline void reject(std::string_view option, const std::string& value,
                                const std::string& why,
                                const std::string& advice = "see lull denoise --help-all") {
  throw InvalidArgument(std::string(option) + " " + (value.empty() ? "''" : value) + " (" + why +
                        "); " + advice);
}

/// Throws an error that lists the allowed `names`.
[[noreturn]] inline void reject_word(std::string_view option, const std::string& value,
                                     const std::vector<std::string>& names) {
  reject(option, value, "must be one of " + joined(names),
         did_you_mean(value, names, "see lull denoise --help-all"));
}

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Parses the complete string as a finite number in C notation, independent of the locale.
template <class Number>
std::optional<Number> number(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

inline std::string file_or_reject(std::string_view option, const std::string& text) {
  if (text.empty()) reject(option, text, "must be the name of a file");
  return text;
}

/// Parses "A" or "A:B": A for the hard-threshold phase, B for the Wiener phase. A single value
/// applies to both phases.
inline std::pair<std::string, std::string> phases_or_reject(std::string_view option,
                                                            const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 2) reject(option, text, "must be one value, or A:B for the two phases");
  return {parts.front(), parts.back()};
}

template <class Number>
Number number_or_reject(std::string_view option, const std::string& text) {
  const auto value = number<Number>(text);
  if (!value)
    reject(option, text,
           std::is_integral_v<Number> ? "must be a whole number" : "must be a number");
  return *value;
}

inline int count_or_reject(std::string_view option, const std::string& text, int min, int max) {
  const auto value = number<int>(text);
  if (!value || *value < min || *value > max)
    reject(option, text,
           "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  return *value;
}

/// Returns the value that `choices` assigns to `text`.
template <class Value, std::size_t Count>
Value choose(std::string_view option, const std::string& text,
             const std::pair<std::string_view, Value> (&choices)[Count]) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    names.emplace_back(name);
  }
  reject_word(option, text, names);
}

}  // namespace lull::tools
