#include "io/exr/exr_layers.h"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfMultiPartInputFile.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfStandardAttributes.h>
#include <OpenEXR/ImfStringAttribute.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "io/exr/exr_parts.h"
#include "io/exr/layer_names.h"

namespace lull::io {
namespace {

using Names = std::vector<std::string>;

const std::array<std::string, 3> rgb = {"R", "G", "B"};
const std::array<std::string, 3> grey = {"Y", "Z", "V"};

bool contains_name(const Names& names, std::string_view name) {
  return std::ranges::any_of(names,
                             [&](const auto& one) { return equal_ignoring_case(one, name); });
}

/// Returns the layer name of a channel: the part name, and the channel name up to its last dot.
std::string layer_of(const std::string& part, const std::string& channel) {
  const std::size_t dot = channel.rfind('.');
  const std::string layer = dot == std::string::npos ? "" : channel.substr(0, dot);
  if (layer.empty()) return part;
  if (part.empty() || layer == part || layer.starts_with(part + ".")) return layer;
  return part + "." + layer;
}

/// Returns the layer names in Cryptomatte's metadata. The name of a Cryptomatte channel is the
/// layer name and a number.
Names cryptomatte_names(const Imf::MultiPartInputFile& file) {
  Names names;
  for (int i = 0; i < file.parts(); ++i) {
    const Imf::Header& header = file.header(i);
    for (auto one = header.begin(); one != header.end(); ++one) {
      const std::string_view key = one.name();
      const auto* text = dynamic_cast<const Imf::StringAttribute*>(&one.attribute());
      if (text && key.starts_with("cryptomatte/") && key.ends_with("/name"))
        names.push_back(text->value());
    }
  }
  return names;
}

bool has_any_name_of(const Names& names, std::string layer) {
  const auto has_name = [&] {
    return contains_name(names, layer) || contains_name(names, last_component(layer));
  };
  if (has_name()) return true;
  while (!layer.empty() && std::isdigit(static_cast<unsigned char>(layer.back()))) layer.pop_back();
  return has_name();
}

/// The view names of a file. The first view is the default.
struct Views {
  Names names;
  bool are_stated = false;  // true if attributes state the views, false if only layer names do
};

void add_view(Names& names, const std::string& name) {
  if (!contains_name(names, name)) names.push_back(name);
}

Views stated_views(const Imf::MultiPartInputFile& file) {
  Views views;
  for (int i = 0; i < file.parts(); ++i) {
    const Imf::Header& header = file.header(i);
    if (Imf::hasMultiView(header))
      for (const std::string& name : Imf::multiView(header)) add_view(views.names, name);
    if (header.hasView()) add_view(views.names, header.view());
  }
  views.are_stated = !views.names.empty();
  return views;
}

/// Returns the index of the first component that is the name of a view, such as "left"; the number
/// of components if there is none. `components` are the parts of a layer name between dots.
std::size_t position_of_view(const Names& components, const Names& views) {
  const auto at = std::ranges::find_if(
      components, [&](const std::string& one) { return contains_name(views, one); });
  return static_cast<std::size_t>(at - components.begin());
}

/// Joins all components of a layer name except the component with the index `omitted`.
std::string joined_without(const Names& components, std::size_t omitted) {
  std::string name;
  for (std::size_t i = 0; i < components.size(); ++i)
    if (i != omitted) name += (name.empty() ? "" : ".") + components[i];
  return name;
}

/// Returns the views of a file. If the file states no views, the name of a picture layer, such as
/// "combined.right", implies the views left and right. Names of other layers imply no views: in
/// "light.right", "right" may describe a lamp.
Views views_of(const Imf::MultiPartInputFile& file, const std::vector<ExrLayer>& layers) {
  Views views = stated_views(file);
  if (views.are_stated) return views;
  const bool has_right = std::ranges::any_of(layers, [](const ExrLayer& layer) {
    const Names components = name_components(layer.name);
    const std::size_t at = position_of_view(components, {"right"});
    return at < components.size() && picture_rank(joined_without(components, at)) >= 0;
  });
  if (has_right) views.names = {"left", "right"};
  return views;
}

/// Separates the view from the layer name. OpenEXR requires the view as the last component, but
/// some programs place it elsewhere.
void set_view(ExrLayer& layer, const Imf::Header& header, const Views& views) {
  const Names components = name_components(layer.name);
  const std::size_t at = position_of_view(components, views.names);
  if (header.hasView())
    layer.view = header.view();
  else if (at < components.size())
    layer.view = components[at];
  layer.base = joined_without(components, at);
  if (views.names.empty()) return;
  if (layer.view.empty()) layer.view = views.names.front();
  layer.is_default_view = equal_ignoring_case(layer.view, views.names.front());
}

/// Sets the properties of a layer that follow from its channels.
void set_content(ExrLayer& layer, const Imf::Header& header, const Names& cryptomatte) {
  const Imf::ChannelList& list = header.channels();
  const auto is_integer = [&](const std::string& suffix) {
    return list[*layer.channel(suffix)].type == Imf::UINT;
  };
  for (const std::string& name : layer.full_names)
    layer.can_be_read &= list[name].xSampling == 1 && list[name].ySampling == 1;
  layer.can_be_read &= !header.hasType() || !Imf::isDeepData(header.type());
  const LayerContent content = content_by_name(layer.base);
  // lull does not filter layers that contain IDs. The name of the layer or the Cryptomatte metadata
  // may indicate IDs. Integers in a picture channel of the layer, such as R, are also IDs.
  layer.holds_ids = content == LayerContent::ids || has_any_name_of(cryptomatte, layer.name) ||
                    std::ranges::any_of(layer.picture_channels(), is_integer);
  layer.holds_light = content == LayerContent::colour && !layer.holds_ids;
  if (!layer.holds_light || !layer.can_be_read) return;
  if (layer.has_rgb())
    layer.colours.assign(rgb.begin(), rgb.end());
  else if (layer.channel("Y") && !layer.channel("X") && !layer.channel("U") && !layer.has_chroma())
    layer.colours = {"Y"};
}

/// Returns the bounding box of the display window and the data window. The data window alone is not
/// suitable, because it may differ between the frames of a sequence.
LayerWindow window_of(const Imf::Header& header) {
  const Imath::Box2i &data = header.dataWindow(), &shown = header.displayWindow();
  return {std::min(data.min.x, shown.min.x), std::min(data.min.y, shown.min.y),
          std::max(data.max.x, shown.max.x), std::max(data.max.y, shown.max.y)};
}

std::vector<ExrLayer> layers_of_part(const Imf::Header& header, int index, bool several) {
  const std::string part = several && header.hasName() ? header.name() : "";
  std::vector<ExrLayer> layers;
  for (auto c = header.channels().begin(); c != header.channels().end(); ++c) {
    const std::string channel = c.name(), name = layer_of(part, channel);
    auto at = std::ranges::find(layers, name, &ExrLayer::name);
    if (at == layers.end()) {
      at = layers.insert(at, ExrLayer());
      at->name = name;
      at->part = index;
      at->window = window_of(header);
    }
    at->full_names.push_back(channel);
    at->channels.push_back(channel.substr(channel.rfind('.') + 1));
  }
  return layers;
}

/// Returns the label of a layer without a name: the view, or the channels, such as "RGBA".
std::string label_without_name(const ExrLayer& layer, bool has_views) {
  if (has_views) return layer.view;
  std::string label;
  for (const std::string& suffix : layer.picture_channels()) label += suffix;
  return layer.channel("A") && label != "A" ? label + "A" : label;
}

void set_labels(std::vector<ExrLayer>& layers, const Views& views) {
  for (ExrLayer& layer : layers) {
    layer.label = layer.name.empty() ? label_without_name(layer, views.are_stated) : layer.name;
    if (layer.name.empty() &&
        std::ranges::find(layers, layer.label, &ExrLayer::name) != layers.end())
      layer.label = "''";
  }
}

using Condition = std::function<bool(const ExrLayer&)>;

const ExrLayer* first_with(const std::vector<ExrLayer>& layers, const Condition& condition) {
  for (const bool default_view : {true, false})
    for (const ExrLayer& layer : layers)
      if (layer.is_default_view == default_view && condition(layer)) return &layer;
  return nullptr;
}

/// Returns the best colour layer that fulfils `condition`; null if there is none. These criteria
/// decide, in this order:
/// - RGB is better than grey.
/// - A layer whose name is in the list of picture_rank() is better than other layers.
/// - The default view is better than other views.
/// - A smaller picture_rank() is better.
const ExrLayer* colour_picture(const std::vector<ExrLayer>& layers, const Condition& condition) {
  for (const std::size_t count : {rgb.size(), std::size_t{1}}) {
    const Condition fits = [&](const ExrLayer& layer) {
      return layer.colours.size() == count && condition(layer);
    };
    const ExrLayer* best = nullptr;
    for (const ExrLayer& layer : layers) {
      const int rank = picture_rank(layer.base);
      if (rank < 0 || !fits(layer)) continue;
      const auto order = [](const ExrLayer& one) {
        return std::pair(!one.is_default_view, picture_rank(one.base));
      };
      if (!best || order(layer) < order(*best)) best = &layer;
    }
    if (best) return best;
    if (const ExrLayer* any = first_with(layers, fits)) return any;
  }
  return nullptr;
}

/// Marks the beauty layers, which contain the sum of all light: the colour layers whose name is in
/// the list of picture_rank(), and the best colour layer of each view.
void set_beauty(std::vector<ExrLayer>& layers) {
  std::set<std::string> views;
  for (ExrLayer& layer : layers) {
    views.insert(layer.view);
    layer.is_beauty = layer.has_colours() && picture_rank(layer.base) >= 0;
  }
  for (const std::string& view : views) {
    const ExrLayer* picture =
        colour_picture(layers, [&](const ExrLayer& layer) { return layer.view == view; });
    for (ExrLayer& layer : layers) layer.is_beauty |= &layer == picture;
  }
}

}  // namespace

const std::string* ExrLayer::channel(std::string_view suffix) const {
  for (std::size_t i = 0; i < channels.size(); ++i)
    if (equal_ignoring_case(channels[i], suffix)) return &full_names[i];
  return nullptr;
}

bool ExrLayer::has_rgb() const {
  return std::ranges::all_of(rgb, [&](const std::string& s) { return channel(s) != nullptr; });
}

bool ExrLayer::has_chroma() const {
  return !has_rgb() && channel("Y") && (channel("RY") || channel("BY"));
}

std::vector<std::string> ExrLayer::picture_channels() const {
  if (has_rgb()) return {rgb.begin(), rgb.end()};
  for (const std::string& suffix : grey)
    if (channel(suffix)) return {suffix};
  return {channels.front()};
}

const ExrLayer* picture_of_view(const std::vector<ExrLayer>& layers, std::string_view view) {
  const auto at = std::ranges::find_if(layers, [&](const ExrLayer& layer) {
    return layer.is_beauty && equal_ignoring_case(layer.view, view);
  });
  return at == layers.end() ? nullptr : &*at;
}

const ExrLayer* default_picture(const std::vector<ExrLayer>& layers) {
  if (const ExrLayer* one = colour_picture(layers, [](const ExrLayer&) { return true; }))
    return one;
  const auto usable = [](const ExrLayer& layer) { return !layer.holds_ids; };
  // If there is no suitable colour layer, the function chooses an albedo, a depth map, or a deep
  // layer. lull rejects deep layers later.
  for (const Condition& condition :
       {Condition([](const ExrLayer& layer) { return layer.has_rgb() && layer.holds_light; }),
        Condition([](const ExrLayer& layer) { return layer.has_rgb(); }),
        Condition([](const ExrLayer& layer) { return layer.channel(grey[0]) != nullptr; }),
        Condition([](const ExrLayer& layer) { return layer.channel(grey[1]) != nullptr; }),
        Condition([](const ExrLayer& layer) { return layer.channel(grey[2]) != nullptr; }),
        Condition([](const ExrLayer& layer) { return layer.channels.size() == 1; })})
    if (const ExrLayer* one = first_with(
            layers, [&](const ExrLayer& layer) { return usable(layer) && condition(layer); }))
      return one;
  return nullptr;
}

std::vector<ExrLayer> list_layers(const Imf::MultiPartInputFile& file) {
  std::vector<ExrLayer> layers;
  for (int i = 0; i < file.parts(); ++i)
    for (ExrLayer& layer : layers_of_part(file.header(i), i, file.parts() > 1))
      layers.push_back(std::move(layer));
  const Views views = views_of(file, layers);
  const Names cryptomatte = cryptomatte_names(file);
  for (ExrLayer& layer : layers) {
    const Imf::Header& header = file.header(layer.part);
    set_view(layer, header, views);
    set_content(layer, header, cryptomatte);
  }
  set_labels(layers, views);
  set_beauty(layers);
  return layers;
}

}  // namespace lull::io
