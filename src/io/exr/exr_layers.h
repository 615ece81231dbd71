#pragma once
// The layers of an OpenEXR file: their channels, views and contents.

#include <string>
#include <string_view>
#include <vector>

#include "io/exr/layer_names.h"
#include "io/layers.h"

namespace lull::io {

/// Channels of one part with a common name: "albedo.R", "albedo.G" and "albedo.B", or R, G and B of
/// a part named "albedo".
struct ExrLayer : LayerInfo {
  int part = 0;                         // index of the part in the file
  std::vector<std::string> full_names;  // for each channel, its name in the file: "albedo.R"
  bool is_default_view = true;
  /// True if the samples are 32-bit integers, Cryptomatte or other IDs. Such a layer is never a
  /// picture.
  bool holds_ids = false;
  bool holds_light = false;  // true if the name is not that of a data layer
  bool can_be_read = true;   // neither deep nor subsampled

  /// Returns the complete name of the channel with this suffix, ignoring case; null if there is
  /// none.
  const std::string* channel(std::string_view suffix) const;
  bool has_rgb() const;
  /// Returns the suffixes of the channels that would form the picture, if this layer were the
  /// picture of the file: R, G and B, or one channel.
  std::vector<std::string> picture_channels() const;
};

/// Returns the layer with this name or this label. An exact match is preferred to one that ignores
/// case. Null if there is none. `Layer` is LayerInfo or ExrLayer.
template <class Layer>
const Layer* find_layer_named(const std::vector<Layer>& layers, std::string_view name) {
  for (const Layer& layer : layers)
    if (layer.name == name || layer.label == name) return &layer;
  for (const Layer& layer : layers)
    if (equal_ignoring_case(layer.name, name) || equal_ignoring_case(layer.label, name))
      return &layer;
  return nullptr;
}

/// Returns the layer that is the sum of all light in a view. The function ignores the difference
/// between upper and lower case in the name of the view. The result is null if there is no such
/// layer.
[[nodiscard]] const ExrLayer* picture_of_view(const std::vector<ExrLayer>& layers,
                                              std::string_view view);

/// Returns the layer that lull uses as the picture of the file; null if there is none. Layers with
/// colours are preferred to other layers, the default view to other views, and the usual names of
/// pictures to other names.
[[nodiscard]] const ExrLayer* default_picture(const std::vector<ExrLayer>& layers);

}  // namespace lull::io
