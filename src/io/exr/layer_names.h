#pragma once
// Interprets layer names of renderers and compositing programs.

#include <string>
#include <string_view>
#include <vector>

namespace lull::io {

[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

/// Splits a layer name into components at the dots.
[[nodiscard]] std::vector<std::string> name_components(std::string_view layer);
/// Returns the last component of a layer name.
[[nodiscard]] std::string_view last_component(std::string_view layer);

/// The kind of samples in a layer, derived from its name.
enum class LayerContent {
  colour,  // light, which filters may smooth
  data,    // depth, positions, motion, normals, albedo, variance, masks: not light
  ids,     // Cryptomatte, indices, hashes: numbers without an order
};
/// Derives the content of a layer from its name, ignoring case, separators and trailing digits.
[[nodiscard]] LayerContent content_by_name(std::string_view layer);

/// Returns the index of a layer name in the list of picture names, such as "Combined", in order of
/// preference; -1 if the name is not in the list.
[[nodiscard]] int picture_rank(std::string_view layer);

}  // namespace lull::io
