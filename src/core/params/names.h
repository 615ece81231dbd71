#pragma once
// Names of enumerators, as programs print and parse them.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace lull {

template <class Enum, std::size_t Count>
using NamesOf = std::array<std::pair<Enum, std::string_view>, Count>;

/// The values of an enumeration with their names, in the order in which programs list them. Each
/// enumeration that has names specialises this variable.
template <class Enum>
inline constexpr NamesOf<Enum, 0> names_of{};

/// Returns the name of a value.
template <class Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) {
  for (const auto& [candidate, text] : names_of<Enum>)
    if (candidate == value) return text;
  return {};
}

/// Returns the value with this name, or nothing if no value has this name:
/// parse_name<Profile>("fast").
template <class Enum>
[[nodiscard]] constexpr std::optional<Enum> parse_name(std::string_view text) {
  for (const auto& [value, candidate] : names_of<Enum>)
    if (candidate == text) return value;
  return std::nullopt;
}

}  // namespace lull
