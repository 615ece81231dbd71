#include "tools/wrap/feature_layers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

namespace lull::tools {
namespace {

using LayerNames = std::span<const std::string_view>;
using ChannelNames = std::vector<std::string>;

/// Names of layers with feature buffers (AOVs) in Open Image Denoise (OIDN), Blender, Arnold and
/// RenderMan, in lower case, without the view layer (the part before the last dot).
constexpr std::string_view albedo_names[] = {"albedo", "denoising albedo", "diffcol",
                                             "denoise_albedo", "diffuse_albedo"};
constexpr std::string_view normal_names[] = {"normal", "denoising normal", "n", "normals",
                                             "denoise_normal"};
constexpr std::string_view depth_names[] = {"depth", "denoising depth", "zfiltered", "z"};
constexpr std::string_view variance_names[] = {"variance", "denoising variance", "mse"};
constexpr std::string_view half_a_names[] = {"halfa", "half_a"};
constexpr std::string_view half_b_names[] = {"halfb", "half_b"};
constexpr std::array<LayerNames, feature_count> known_names = {
    albedo_names, normal_names, depth_names, variance_names, half_a_names, half_b_names};

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

bool has_channels(const io::LayerName& layer, const ChannelNames& channels) {
  return std::ranges::all_of(channels, [&](const std::string& name) {
    return std::ranges::any_of(layer.channels, [&](const std::string& channel) {
      return lower_case(channel) == lower_case(name);
    });
  });
}

/// Returns the channels of a layer that form the feature buffer, or no names if a channel is
/// missing.
ChannelNames channels_of(const io::LayerName& layer, Feature feature) {
  if (feature == Feature::depth) {
    for (const char* one : {"Z", "V", "Y", "R"})
      if (has_channels(layer, {one})) return {one};
  } else {
    if (feature == Feature::normal && has_channels(layer, {"X", "Y", "Z"})) return {"X", "Y", "Z"};
    if (has_channels(layer, {"R", "G", "B"})) return {"R", "G", "B"};
    if (has_channels(layer, {"X", "Y", "Z"})) return {"X", "Y", "Z"};
  }
  if (layer.channels.size() == 1 && feature != Feature::normal) return layer.channels;
  return {};
}

/// Lower-case names of layers whose light does not contain the albedo as a factor, such as
/// "background". lull must not divide these layers by the albedo, because the division would add
/// texture.
constexpr std::string_view plain_light_names[] = {
    "diffdir",     "diffind",    "transdir", "transind", "subsurfacedir", "subsurfaceind",
    "env",         "ao",         "shadow",   "volume",   "volumedir",     "volumeind",
    "environment", "background", "lighting", "gi"};
/// Lower-case parts of the names of layers whose light does not contain the albedo as a factor, for
/// example "directSpecular", "GlossInd" and "coat_indirect".
constexpr std::string_view plain_light_parts[] = {
    "specular", "gloss",    "reflect",   "refract", "coat",     "sheen",      "emission",    "emit",
    "caustic",  "rawlight", "raw_light", "rawdiff", "raw_diff", "irradiance", "transmission"};

std::string last_name(std::string_view layer) {
  return lower_case(layer.substr(layer.rfind('.') + 1));
}

/// Returns the part of a name before the last dot, in lower case.
std::string prefix_of(std::string_view layer) {
  const std::size_t dot = layer.rfind('.');
  return dot == layer.npos ? "" : lower_case(layer.substr(0, dot));
}

bool is_plain_light(const io::LayerInfo& layer) {
  const std::string name = last_name(layer.base);
  if (layer.is_beauty) return false;
  return std::ranges::find(plain_light_names, name) != std::end(plain_light_names) ||
         std::ranges::any_of(plain_light_parts, [&](std::string_view part) {
           return name.find(part) != std::string::npos;
         });
}

/// Returns the rank of `layer` as a feature buffer for the denoised layer `target` (0 is the best),
/// or nullopt if `layer` does not belong to `target`.
std::optional<int> distance_between(const io::LayerInfo& layer, const io::LayerInfo& target,
                                    const std::vector<io::LayerInfo>& all) {
  if (lower_case(layer.view) != lower_case(target.view) || layer.window != target.window)
    return std::nullopt;
  const std::string prefix = prefix_of(layer.base);
  if (prefix == prefix_of(target.base) || prefix == lower_case(target.base)) return 0;
  if (prefix.empty()) return 1;
  const bool is_other_group = std::ranges::any_of(all, [&](const io::LayerInfo& other) {
    return other.has_colours() &&
           (prefix_of(other.base) == prefix || lower_case(other.base) == prefix);
  });
  return is_other_group ? std::nullopt : std::optional(2);
}

/// Returns whether `layer` has the name of a feature buffer for the denoised layer `target`. `name`
/// is a usual name for the feature, for example "albedo".
bool has_name_of(const io::LayerInfo& layer, Feature feature, std::string_view name,
                 const io::LayerInfo& target) {
  const std::string last = last_name(layer.base);
  if (!is_noise_feature(feature) || target.is_beauty) return last == name;
  const std::string own = last_name(target.base);
  for (const char* separator : {"_", "", " "})
    if (last == own + separator + std::string(name) || last == std::string(name) + separator + own)
      return true;
  return last == name && prefix_of(layer.base) == lower_case(target.base);
}

/// Returns the layer that contains the feature buffer `feature` of the denoised layer `target`, or
/// null. The function searches for the names that renderers give to such layers (`known_names`).
const io::LayerInfo* find_by_names(const std::vector<io::LayerInfo>& all, Feature feature,
                                   const io::LayerInfo& target) {
  if (feature == Feature::albedo && is_plain_light(target)) return nullptr;
  const io::LayerInfo* best = nullptr;
  int best_distance = 0;
  const auto consider = [&](const io::LayerInfo& layer) {
    const std::optional<int> distance = distance_between(layer, target, all);
    if (!distance || (best && *distance >= best_distance)) return;
    best = &layer;
    best_distance = *distance;
  };
  for (const std::string_view name : known_names[static_cast<std::size_t>(feature)])
    for (const io::LayerInfo& layer : all)
      if (has_name_of(layer, feature, name, target) && !channels_of(layer, feature).empty())
        consider(layer);
  if (best || feature != Feature::depth) return best;
  for (const io::LayerInfo& layer : all)  // Z in the same layer as R, G and B
    if ((layer.is_beauty || layer.name == target.name) && has_channels(layer, {"Z"}) &&
        layer.channels.size() > 1)
      consider(layer);
  return best;
}

std::vector<FeatureLayer> find_all(const std::vector<io::LayerInfo>& all,
                                   const io::LayerInfo& target) {
  std::vector<FeatureLayer> found;
  for (int f = 0; f < feature_count; ++f) {
    const auto feature = static_cast<Feature>(f);
    if (const io::LayerInfo* layer = find_by_names(all, feature, target))
      found.push_back({feature, {layer->name, channels_of(*layer, feature)}});
  }
  return found;
}

/// Returns the layer that --feature specifies for the denoised layer `target`.
io::LayerName given_layer(const std::vector<io::LayerInfo>& all, const FeatureChoice& given,
                          const io::LayerInfo& target) {
  const io::LayerInfo* layer = io::find_layer(all, given.layer);
  if (!layer || layer->window != target.window) return {given.layer, {}};
  return {layer->name, channels_of(*layer, given.feature)};
}

}  // namespace

FeatureLayers::FeatureLayers(const DenoiseOptions& options)
    : finds_by_name_(options.method.guide == "auto"),
      layer_(options.input.layers.empty() ? "" : options.input.layers.front()),
      choices_(options.method.features) {}

std::vector<FeatureLayer> FeatureLayers::select(const std::vector<io::LayerInfo>& all) const {
  const auto picture = std::ranges::find_if(all, &io::LayerInfo::is_picture);
  const io::LayerInfo* target = layer_.empty() ? nullptr : io::find_layer(all, layer_);
  if (!target && picture != all.end()) target = &*picture;
  if (!target) return {};
  std::vector<FeatureLayer> found =
      finds_by_name_ ? find_all(all, *target) : std::vector<FeatureLayer>();
  for (const FeatureChoice& given : choices_) {
    std::erase_if(found, [&](const FeatureLayer& one) { return one.feature == given.feature; });
    if (given.file.empty()) found.push_back({given.feature, given_layer(all, given, *target)});
  }
  return found;
}

io::LayerChoice FeatureLayers::choice() const {
  if (!finds_by_name_ && choices_.empty()) return {};
  return [*this](const std::vector<io::LayerInfo>& all) {
    std::vector<io::LayerName> layers;
    for (const FeatureLayer& one : select(all))
      if (!one.layer.channels.empty()) layers.push_back(one.layer);
    return layers;
  };
}

bool FeatureLayers::any(const std::vector<io::LayerInfo>& all) {
  return std::ranges::any_of(all, [&](const io::LayerInfo& layer) {
    return (layer.has_colours() || layer.is_picture) && !find_all(all, layer).empty();
  });
}

}  // namespace lull::tools
