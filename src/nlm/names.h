#pragma once
// Names of the enumerators in params.h, which tools print and read.

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "nlm/params.h"

namespace lull::nlm {

inline constexpr std::array<std::pair<Profile, std::string_view>, 4> profile_names{
    {{Profile::fast, "fast"},
     {Profile::balanced, "balanced"},
     {Profile::high, "high"},
     {Profile::paper, "paper"}}};
inline constexpr std::array<std::pair<Weights, std::string_view>, 2> weights_names{
    {{Weights::exponential, "exp"}, {Weights::polynomial, "poly"}}};

/// Returns the value with that name, if one exists: parse(profile_names, "fast").
template <class Names>
[[nodiscard]] constexpr auto parse(const Names& names, std::string_view text)
    -> std::optional<typename Names::value_type::first_type> {
  for (const auto& [value, name] : names)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace lull::nlm
