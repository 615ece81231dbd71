#pragma once
// The layers of an OpenEXR file: their channels, views and contents.

#include <string>
#include <string_view>
#include <vector>

#include "io/exr/layer_names.h"
#include "io/layers.h"

namespace lull::io {

/// Channels of one part whose names have a common beginning, such as "albedo.R", "albedo.G" and
/// "albedo.B". Channels R, G and B of a part with the name "albedo" form the same layer.
struct ExrLayer : LayerInfo {
  int part = 0;                         // index of the part in the file
  std::vector<std::string> full_names;  // for each channel, its name in the file: "albedo.R"
  bool is_default_view = true;
  /// Whether the samples are IDs: 32-bit integers, or Cryptomatte. A layer of IDs is never a
  /// picture.
  bool holds_ids = false;
  bool holds_light = false;  // whether the name is not the name of a data layer
  bool can_be_read = true;   // neither deep nor subsampled

  /// Returns the complete name of the channel with the suffix `suffix`; null if there is none. The
  /// case of letters does not matter.
  const std::string* channel(std::string_view suffix) const;
  bool has_rgb() const;
  /// Returns the suffixes of the channels that would form the picture of the file, if this layer
  /// were the picture: R, G and B, or a single channel.
  std::vector<std::string> picture_channels() const;
};

/// Returns the layer with the name or the label `name`; null if there is none. If the names of
/// several layers differ only in the case of letters, the function prefers the exact name. `Layer`
/// is LayerInfo or ExrLayer.
template <class Layer>
const Layer* find_layer_named(const std::vector<Layer>& layers, std::string_view name) {
  for (const Layer& layer : layers)
    if (layer.name == name || layer.label == name) return &layer;
  for (const Layer& layer : layers)
    if (equal_ignoring_case(layer.name, name) || equal_ignoring_case(layer.label, name))
      return &layer;
  return nullptr;
}

/// Returns the beauty layer (the sum of all light) of the view `view`; null if there is none. The
/// case of letters does not matter.
[[nodiscard]] const ExrLayer* picture_of_view(const std::vector<ExrLayer>& layers,
                                              std::string_view view);

/// Returns the layer that is the picture of the file by default; null if no layer is suitable. The
/// function prefers layers with colours, the default view, and the usual names of pictures.
[[nodiscard]] const ExrLayer* default_picture(const std::vector<ExrLayer>& layers);

}  // namespace lull::io
