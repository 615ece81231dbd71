#include "tools/wrap/layer_plan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>

#include "core/error.h"
#include "tools/options/suggestion.h"

namespace lull::tools {
namespace {

using Layers = std::vector<io::LayerInfo>;

std::string labels(const Layers& layers, bool colours_only) {
  std::vector<std::string> names;
  for (const io::LayerInfo& layer : layers)
    if (!colours_only || layer.has_colours()) names.push_back(layer.label);
  return joined(names);
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

bool has_channel(const io::LayerInfo& layer, std::string_view name) {
  return std::ranges::find(layer.channels, name, upper_case) != layer.channels.end();
}

/// Returns whether lull may denoise the layer as a grey picture, for example as a depth map. Grey
/// layers have a single channel, or no channel R. Layers with a channel X or U are never grey.
bool is_grey(const io::LayerInfo& layer) {
  if (has_channel(layer, "X") || has_channel(layer, "U")) return false;
  return layer.channels.size() == 1 || !has_channel(layer, "R");
}

const io::LayerInfo& selected(const Layers& all, const std::string& name,
                              const std::string& input) {
  const io::LayerInfo* layer = io::find_layer(all, name);
  if (!layer)
    throw BadData("'" + input + "' has no layer " + name + " (it has " + labels(all, false) +
                  "); give another name");
  if (!layer->has_colours())
    throw BadData(
        "the layer " + layer->label + " of '" + input +
        "' is not denoised (it has no colours that can be filtered, or holds data such as "
        "IDs, depth or motion); choose among " +
        labels(all, true));
  return *layer;
}

/// Returns the layers with colours (LayerInfo::has_colours()) in one view. The layer with the sum
/// of all light (LayerInfo::is_beauty) comes first.
Layers layers_of_view(const Layers& all, const std::string& view) {
  Layers layers;
  for (const bool is_beauty : {true, false})
    for (const io::LayerInfo& layer : all)
      if (layer.is_beauty == is_beauty && layer.has_colours() &&
          upper_case(layer.view) == upper_case(view))
        layers.push_back(layer);
  return layers;
}

/// Returns the layers that `names` select. A name is the name of a layer or of a view. A view
/// stands for all its layers with colours or, if `keeps_layers` is false, for the first of
/// layers_of_view().
Layers selected_layers(const Layers& all, const std::vector<std::string>& names, bool keeps_layers,
                       const std::string& input) {
  Layers layers;
  const auto add = [&](const io::LayerInfo& layer) {
    if (std::ranges::find(layers, layer.label, &io::LayerInfo::label) == layers.end())
      layers.push_back(layer);
  };
  for (const std::string& name : names) {
    Layers of_view = layers_of_view(all, name);
    if (!keeps_layers && of_view.size() > 1) of_view.resize(1);
    if (!io::find_layer(all, name) && !of_view.empty())
      std::ranges::for_each(of_view, add);
    else
      add(selected(all, name, input));
  }
  return layers;
}

Layers default_layers(const Layers& all, bool keeps_layers, const std::string& input) {
  Layers layers;
  const auto picture = std::ranges::find_if(all, &io::LayerInfo::is_picture);
  if (picture == all.end()) return layers;
  if (!picture->has_colours() && !is_grey(*picture))
    throw BadData("'" + input + "' has no layer that can be denoised (it has " +
                  labels(all, false) + ", which hold data); give a file with colours");
  layers.push_back(*picture);
  if (!keeps_layers) return layers;
  for (const io::LayerInfo& layer : all)
    if (layer.has_colours() && !layer.is_picture) layers.push_back(layer);
  return layers;
}

/// Returns the copied channels of a denoised layer: all except the colours and the alpha channel.
std::vector<std::string> copied_channels(const io::LayerInfo& layer) {
  std::vector<std::string> names;
  if (!layer.has_colours()) return names;
  for (const std::string& channel : layer.channels) {
    const std::string upper = upper_case(channel);
    if (upper == "A" || std::ranges::find(layer.colours, upper) != layer.colours.end()) continue;
    names.push_back(layer.name.empty() ? channel : layer.name + "." + channel);
  }
  return names;
}

}  // namespace

std::string LayerPlan::text() const {
  if (denoised.size() < 2 && copied.empty()) return {};
  const std::string kept = copied.empty() ? "" : "; copied: " + joined(copied);
  return "denoised: " + labels(denoised, false) + kept;
}

LayerPlan plan_layers(const Layers& all, const std::vector<std::string>& names, bool keeps_layers,
                      const std::string& input, const std::string& output) {
  LayerPlan plan;
  if (all.empty()) return plan;
  plan.denoised = names.empty() ? default_layers(all, keeps_layers, input)
                                : selected_layers(all, names, keeps_layers, input);
  if (!keeps_layers && plan.denoised.size() > 1)
    throw InvalidArgument("--layer " + joined(names) + " with the output '" + output +
                          "' (it holds one picture); give one layer, or an output in OpenEXR");
  if (!keeps_layers) return plan;
  for (const io::LayerInfo& layer : all) {
    if (std::ranges::find(plan.denoised, layer.label, &io::LayerInfo::label) == plan.denoised.end())
      plan.copied.push_back(layer.label);
    else
      std::ranges::copy(copied_channels(layer), std::back_inserter(plan.copied));
  }
  return plan;
}

}  // namespace lull::tools
