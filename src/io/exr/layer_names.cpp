#include "io/exr/layer_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace lull::io {
namespace {

/// Picture names of OIDN's loader, Blender, Arnold and RenderMan, in order of preference. "Noisy
/// Image" precedes "Combined", which Blender may have denoised.
constexpr std::array<std::string_view, 9> picture_names = {
    "", "RGBA", "RGB", "Noisy Image", "Combined", "Beauty", "Color", "Ci", "C"};

/// Words that, anywhere in a layer name, mark the layer as a layer of IDs.
constexpr std::string_view id_words[] = {"cryptomatte", "crypto", "id",     "ids",   "guid",
                                         "uid",         "hash",   "hashes", "index", "indices"};
/// Words that, directly before "id", mark a layer of IDs, as in "objectid".
constexpr std::string_view owners[] = {
    "object",   "obj",    "material", "mat",  "mtl",   "mesh",  "node",   "prim",     "primitive",
    "instance", "inst",   "item",     "face", "asset", "shape", "render", "particle", "layer",
    "light",    "shader", "geo",      "user", "group", "curve", "element"};
/// Words that, anywhere in a layer name, mark the layer as a data layer (depth, normals, motion).
constexpr std::string_view data_words[] = {
    "depth",    "deep",    "distance", "dist",         "disparity",   "position",  "positions",
    "pos",      "pref",    "uv",       "uvs",          "uvw",         "stmap",     "texcoord",
    "vector",   "vectors", "motion",   "mv",           "mvec",        "velocity",  "flow",
    "speed",    "normal",  "normals",  "bump",         "tangent",     "tangents",  "bitangent",
    "binormal", "albedo",  "variance", "mse",          "stddev",      "sample",    "samples",
    "matte",    "mattes",  "mask",     "masks",        "multimatte",  "alpha",     "opacity",
    "coverage", "time",    "heat",     "heatmap",      "barycentric", "wireframe", "curvature",
    "facing",   "fresnel", "weight",   "weights",      "zfiltered",   "halfa",     "halfb",
    "zbuffer",  "zdepth",  "xyz",      "displacement", "roughness",   "metallic",  "metalness"};
/// Words that mark a data layer (depth, normals, motion) if a component of the layer name equals
/// the word.
constexpr std::string_view data_components[] = {
    "z",        "n",        "nn",      "ng",         "ns",
    "p",        "po",       "pw",      "pn",         "st",
    "vel",      "var",      "points",  "point",      "diffcol",
    "glosscol", "transcol", "cputime", "rendertime", "subsurfacecol",
    "pworld",   "nworld",   "worldp",  "worldn",     "pcamera",
    "ncamera",  "camerap",  "cameran", "pcam",       "ncam",
    "pobject",  "nobject",  "objectp", "objectn",    "pobj",
    "nobj",     "ior"};
/// Prefixes and suffixes of words that mark a data layer, such as "motion" in "motionvector" or
/// "normal" in "worldnormal".
constexpr std::string_view data_beginnings[] = {"motion", "normal", "position", "velocity",
                                                "depth",  "dpd",    "dpcamera"};
constexpr std::string_view data_endings[] = {
    "depth",  "normal",   "normals", "position", "vector",   "vectors",    "motion",
    "albedo", "variance", "mask",    "matte",    "velocity", "samplerinfo"};

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

/// Splits a component into words in lower case, at digits, separators and capitals ("camelCase",
/// "IDMask").
std::vector<std::string> words_of(std::string_view component) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < component.size(); ++i) {
    const auto at = [&](std::size_t k) {
      return k < component.size() ? static_cast<unsigned char>(component[k]) : 0;
    };
    if (!std::isalpha(at(i))) {
      words.emplace_back();
      continue;
    }
    const bool begins =
        std::isupper(at(i)) && i > 0 &&
        (std::islower(at(i - 1)) || (std::isupper(at(i - 1)) && std::islower(at(i + 1))));
    if (begins) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(at(i)));
  }
  std::erase(words, "");
  return words;
}

template <class Names>
bool contains(const Names& names, std::string_view word) {
  return std::ranges::find(names, word) != std::end(names);
}

bool is_id_word(std::string_view word) {
  if (contains(id_words, word) || word.starts_with("crypto")) return true;
  return word.ends_with("id") && contains(owners, word.substr(0, word.size() - 2));
}

bool is_data_word(std::string_view word) {
  return contains(data_words, word) ||
         std::ranges::any_of(data_beginnings, [&](auto b) { return word.starts_with(b); }) ||
         std::ranges::any_of(data_endings, [&](auto e) { return word.ends_with(e); });
}

LayerContent content_of_component(std::string_view component) {
  std::vector<std::string> words = words_of(component);
  std::string joined;
  for (const std::string& word : words) joined += word;
  // The function also adds the whole component as a word, because `words_of()` may split capitals
  // wrongly.
  words.push_back(joined);
  words.push_back(lower_case(component));
  if (std::ranges::any_of(words, is_id_word)) return LayerContent::ids;
  if (contains(data_components, joined) || std::ranges::any_of(words, is_data_word))
    return LayerContent::data;
  return LayerContent::colour;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return lower_case(a) == lower_case(b);
}

std::vector<std::string> name_components(std::string_view layer) {
  std::vector<std::string> components(1);
  for (const char c : layer)
    if (c == '.')
      components.emplace_back();
    else
      components.back() += c;
  return components;
}

std::string_view last_component(std::string_view layer) {
  return layer.substr(layer.rfind('.') + 1);
}

// Derives the content of a layer from the components of its name. A component that names data, such
// as "albedo" in "albedo.RGBA", makes the layer a data layer. There is one exception: in a picture
// layer, a component of three or more words is a title, such as "Depth of field" in "Depth of
// field.Combined". A title does not name data.
LayerContent content_by_name(std::string_view layer) {
  constexpr std::size_t words_of_a_title = 3;
  const bool is_picture = picture_rank(layer) >= 0;
  LayerContent content = LayerContent::colour;
  for (const std::string& component : name_components(layer)) {
    const LayerContent own = content_of_component(component);
    const bool is_title = is_picture && words_of(component).size() >= words_of_a_title;
    if (own != LayerContent::data || !is_title) content = std::max(content, own);
  }
  return content;
}

int picture_rank(std::string_view layer) {
  const std::string_view last = last_component(layer);
  const auto* at = std::ranges::find_if(
      picture_names, [&](std::string_view name) { return equal_ignoring_case(last, name); });
  return at == picture_names.end() ? -1 : static_cast<int>(at - picture_names.begin());
}

}  // namespace lull::io
