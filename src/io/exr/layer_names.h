#pragma once
// Interprets the names of layers in the files of renderers and compositing programs.

#include <string>
#include <string_view>
#include <vector>

namespace lull::io {

[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

/// Returns the components of a layer's name. Dots separate the components.
[[nodiscard]] std::vector<std::string> name_components(std::string_view layer);
/// Returns the last component of a layer's name.
[[nodiscard]] std::string_view last_component(std::string_view layer);

/// The kind of samples that a layer contains, according to its name.
enum class LayerContent {
  colour,  // light, which filters may smooth
  data,    // depth, positions, motion, normals, albedo, variance, masks: not light
  ids,     // Cryptomatte, indices, hashes: numbers without an order
};
/// Returns the content of a layer according to its name. The function ignores the case of letters,
/// separators, and digits at the end.
[[nodiscard]] LayerContent content_by_name(std::string_view layer);

/// Returns the rank of a layer's name among the usual names of pictures; -1 for other names. Rank 0
/// is the best.
[[nodiscard]] int picture_rank(std::string_view layer);

}  // namespace lull::io
