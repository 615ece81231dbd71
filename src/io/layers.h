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

/// A function that chooses which channels of a file's layers are read in addition to the picture.
/// `all` lists all layers of the file.
using LayerChoice = std::function<std::vector<LayerName>(const std::vector<LayerName>& all)>;

/// Returns the layers of the file from which a frame was read; empty for files of other formats.
[[nodiscard]] std::vector<LayerName> layers_of(const Frame& frame);
/// Returns a list of the layers for messages, such as "'' (R G B A), albedo (R G B)".
[[nodiscard]] std::string layers_text(const Frame& frame);

/// Returns channels of a layer as a frame of floats with the size of `frame`. One channel becomes
/// grey, three become RGB. If SourceOptions::layers chose the channels, they were already read with
/// the picture; otherwise the file is decompressed again.
/// @throws BadData  the layer or a channel does not exist, has another size, or is damaged
[[nodiscard]] Frame read_layer(const Frame& frame, std::string_view layer,
                               const std::vector<std::string>& channels);

}  // namespace lull::io
