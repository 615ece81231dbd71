#pragma once
// Names of the values of enumerations, for printing and parsing.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace lull {

template <class Enum, std::size_t Count>
using NamesOf = std::array<std::pair<Enum, std::string_view>, Count>;

/// The values of an enumeration with their names, in the order of help texts. Each enumeration that
/// has names specialises this variable template.
template <class Enum>
inline constexpr NamesOf<Enum, 0> names_of{};

/// Returns the name of a value of an enumeration.
template <class Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) {
  for (const auto& [candidate, text] : names_of<Enum>)
    if (candidate == value) return text;
  return {};
}

/// Returns the enumeration value with the name `text`, or std::nullopt if no value has this name.
/// Example: parse_name<Profile>("fast").
template <class Enum>
[[nodiscard]] constexpr std::optional<Enum> parse_name(std::string_view text) {
  for (const auto& [value, candidate] : names_of<Enum>)
    if (candidate == text) return value;
  return std::nullopt;
}

}  // namespace lull
