#pragma once
// The names of the profiles, as tools print and parse them.

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "bm4d/params.h"

namespace lull::bm4d {

inline constexpr std::array<std::pair<Profile, std::string_view>, 3> profile_names{
    {{Profile::fast, "fast"}, {Profile::balanced, "balanced"}, {Profile::high, "high"}}};

/// Returns the profile with that name, if it exists.
[[nodiscard]] constexpr std::optional<Profile> parse_profile(std::string_view text) {
  for (const auto& [value, name] : profile_names)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace lull::bm4d
