#pragma once
// The layers of an OpenEXR file: channels, views and contents.

#include <string>
#include <string_view>
#include <vector>

#include "io/exr/layer_names.h"
#include "io/layers.h"

namespace lull::io {

/// Channels of one part with a common prefix, such as "albedo.R", "albedo.G" and "albedo.B", or R,
/// G and B of a part named "albedo".
struct ExrLayer : LayerInfo {
  int part = 0;                         // index of the part in the file
  std::vector<std::string> full_names;  // for each channel, its name in the file: "albedo.R"
  bool is_default_view = true;
  /// Whether the samples are IDs: 32-bit integers, or Cryptomatte. Such a layer is never a picture.
  bool holds_ids = false;
  bool holds_light = false;  // whether the name is not the name of a data layer
  bool can_be_read = true;   // neither deep nor subsampled

  /// Returns the complete name of the channel `suffix`, ignoring case; null if there is none.
  const std::string* channel(std::string_view suffix) const;
  bool has_rgb() const;
  /// Returns whether the layer has luminance and chroma (Y, RY, BY) instead of R, G and B.
  bool has_chroma() const;
  /// Returns the suffixes of the channels that form the layer's picture: R, G and B, or a single
  /// channel.
  std::vector<std::string> picture_channels() const;
};

/// Returns the layer with the name or label `name`; null if there is none. An exact match has
/// priority over a match that ignores case. `Layer` is LayerInfo or ExrLayer.
template <class Layer>
const Layer* find_layer_named(const std::vector<Layer>& layers, std::string_view name) {
  for (const Layer& layer : layers)
    if (layer.name == name || layer.label == name) return &layer;
  for (const Layer& layer : layers)
    if (equal_ignoring_case(layer.name, name) || equal_ignoring_case(layer.label, name))
      return &layer;
  return nullptr;
}

/// Returns the beauty layer (the sum of all light) of `view`, ignoring case; null if there is none.
[[nodiscard]] const ExrLayer* picture_of_view(const std::vector<ExrLayer>& layers,
                                              std::string_view view);

/// Returns the default picture layer; null if there is none. A colour layer is better than other
/// layers. Among colour layers, the function prefers RGB, then the usual names of picture layers
/// (`picture_rank()`), then the default view.
[[nodiscard]] const ExrLayer* default_picture(const std::vector<ExrLayer>& layers);

}  // namespace lull::io
