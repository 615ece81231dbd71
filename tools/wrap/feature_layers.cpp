#include "tools/wrap/feature_layers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

namespace lull::tools {
namespace {

using LayerNames = std::span<const std::string_view>;
using ChannelNames = std::vector<std::string>;

/// Names of layers in lower case, without the part before the last dot (the view layer). The lists
/// contain the names that OIDN's loader knows, and those that Blender, Arnold and RenderMan write.
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

/// Returns the channels of a layer that form the feature; empty if the layer does not have these
/// channels.
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

/// Finds a layer by the names that renderers use for the feature; null if there is none.
const io::LayerName* find_by_names(const std::vector<io::LayerName>& layers, Feature feature) {
  for (const std::string_view name : known_names[static_cast<std::size_t>(feature)])
    for (const io::LayerName& layer : layers)
      if (lower_case(layer.name.substr(layer.name.rfind('.') + 1)) == name &&
          !channels_of(layer, feature).empty())
        return &layer;
  if (feature != Feature::depth) return nullptr;
  for (const io::LayerName& layer : layers)  // depth channel Z in the same layer as R, G and B
    if (layer.name.empty() && has_channels(layer, {"Z"}) && layer.channels.size() > 1)
      return &layer;
  return nullptr;
}

}  // namespace

FeatureLayers::FeatureLayers(const DenoiseOptions& options)
    : finds_by_name_(options.method.guide == "auto"), choices_(options.method.features) {}

std::vector<FeatureLayer> FeatureLayers::select(const std::vector<io::LayerName>& all) const {
  std::vector<FeatureLayer> found;
  for (int f = 0; f < feature_count; ++f) {
    const auto feature = static_cast<Feature>(f);
    const auto given = std::ranges::find(choices_, feature, &FeatureChoice::feature);
    if (given == choices_.end()) {
      const io::LayerName* layer = finds_by_name_ ? find_by_names(all, feature) : nullptr;
      if (layer) found.push_back({feature, {layer->name, channels_of(*layer, feature)}});
    } else if (given->file.empty()) {
      const auto layer = std::ranges::find(all, given->layer, &io::LayerName::name);
      found.push_back(
          {feature,
           {given->layer, layer == all.end() ? ChannelNames{} : channels_of(*layer, feature)}});
    }
  }
  return found;
}

io::LayerChoice FeatureLayers::choice() const {
  if (!finds_by_name_ && choices_.empty()) return {};
  return [*this](const std::vector<io::LayerName>& all) {
    std::vector<io::LayerName> layers;
    for (const FeatureLayer& one : select(all))
      if (!one.layer.channels.empty()) layers.push_back(one.layer);
    return layers;
  };
}

}  // namespace lull::tools
