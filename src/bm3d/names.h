#pragma once
// Names of the enumerations in params.h, as the tools print and parse them.

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "bm3d/params.h"

namespace lull::bm3d {

/// Every value of the enumeration with its name, in the order in which tools list them.
template <class Enum>
inline constexpr std::array<std::pair<Enum, std::string_view>, 0> names_of{};
template <>
inline constexpr std::array<std::pair<Transform, std::string_view>, 3> names_of<Transform>{
    {{Transform::dct, "dct"}, {Transform::bior, "bior"}, {Transform::dft, "dft"}}};
template <>
inline constexpr std::array<std::pair<GroupTransform, std::string_view>, 2>
    names_of<GroupTransform>{{{GroupTransform::haar, "haar"}, {GroupTransform::wht, "wht"}}};
template <>
inline constexpr std::array<std::pair<Profile, std::string_view>, 5> names_of<Profile>{
    {{Profile::fast, "fast"},
     {Profile::balanced, "balanced"},
     {Profile::high, "high"},
     {Profile::best, "best"},
     {Profile::paper, "paper"}}};

/// Returns the name of a value of Transform, GroupTransform or Profile.
template <class Enum>
[[nodiscard]] constexpr std::string_view name(Enum value) {
  for (const auto& [candidate, text] : names_of<Enum>)
    if (candidate == value) return text;
  return {};
}

/// Returns the value with this name, if any: parse<Transform>("dct").
template <class Enum>
[[nodiscard]] constexpr std::optional<Enum> parse(std::string_view text) {
  for (const auto& [value, candidate] : names_of<Enum>)
    if (candidate == text) return value;
  return std::nullopt;
}

}  // namespace lull::bm3d
