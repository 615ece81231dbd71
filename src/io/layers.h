#pragma once
// Layers of OpenEXR files: channels in addition to the planes of the frame.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/frame.h"

namespace lull::io {

struct LayerName {
  std::string name;                   // "albedo", "ViewLayer.Denoising Normal"; may be empty
  std::vector<std::string> channels;  // "R", "G", "B"
};

/// A rectangle in the pixel coordinates of a file. x1 and y1 are inclusive.
struct LayerWindow {
  int x0 = 0, y0 = 0, x1 = -1, y1 = -1;
  int width() const { return x1 - x0 + 1; }
  int height() const { return y1 - y0 + 1; }
  bool operator==(const LayerWindow&) const = default;
};

/// A layer with its channels, and the properties that determine how lull denoises the layer.
struct LayerInfo : LayerName {
  /// Unique name of the layer for messages and users, such as "diffuse". A layer without a name has
  /// the label "RGBA" or the name of the view.
  std::string label;
  /// View of the layer, such as "left" or "right"; the default view if the layer name contains no
  /// view. Empty if the file has only one view.
  std::string view;
  std::string base;  // the name without the view: "diffuse" for "right.diffuse"
  /// The colour channels of the layer: R, G, B, or Y. The list is empty for layers that lull does
  /// not denoise, such as IDs, depth, motion, normals, albedo and variance.
  std::vector<std::string> colours;
  bool is_beauty = false;   // whether the layer is the sum of all light in its view
  bool is_picture = false;  // whether frames of the file show this layer
  LayerWindow window;       // rectangle of a frame of the layer

  /// Returns whether the layer is a picture that lull can denoise.
  bool has_colours() const { return !colours.empty(); }
};

/// Chooses the layers that the source reads in addition to the default picture. `all` contains all
/// layers of the file.
using LayerChoice = std::function<std::vector<LayerName>(const std::vector<LayerInfo>& all)>;

/// Returns the layers of the OpenEXR file that contained the frame; empty for other formats.
[[nodiscard]] std::vector<LayerInfo> layers_of(const Frame& frame);
/// Returns a list of the layers for messages, such as "'' (R G B A), albedo (R G B)".
[[nodiscard]] std::string layers_text(const Frame& frame);
/// Returns the layer with the name or the label `name`, ignoring case; null if there is none.
[[nodiscard]] const LayerInfo* find_layer(const std::vector<LayerInfo>& all, std::string_view name);

/// Returns channels of a layer as a frame of floats with the size of the layer's window. The frame
/// is grey for one channel, and RGB for three channels. For layers that SourceOptions::layers did
/// not choose, the function decompresses the file again.
/// @throws BadData  the layer or a channel does not exist, or is damaged
[[nodiscard]] Frame read_layer(const Frame& frame, std::string_view layer,
                               const std::vector<std::string>& channels);

/// New samples for a layer, as a frame of floats with the size of the layer's window.
struct FilteredLayer {
  LayerName layer;
  Frame samples;
};
/// Stores new samples for layers in the side data of `frame`. Sinks for OpenEXR write the new
/// samples instead of the original ones.
void set_layers(Frame& frame, std::vector<FilteredLayer> layers);

/// Returns whether a file name has the extension of OpenEXR files.
[[nodiscard]] bool is_exr_name(std::string_view path);

}  // namespace lull::io
