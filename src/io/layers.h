#pragma once
// What a picture of an OpenEXR file has beside the planes of its frame.

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

/// Which channels of a file's layers are wanted beside its picture, of all that it has.
using LayerChoice = std::function<std::vector<LayerName>(const std::vector<LayerName>& all)>;

/// The layers of the file that a frame was read from; none of other files.
[[nodiscard]] std::vector<LayerName> layers_of(const Frame& frame);
/// "'' (R G B A), albedo (R G B)", for messages.
[[nodiscard]] std::string layers_text(const Frame& frame);

/// Channels of a layer as a frame of floats, of the size of `frame`: grey of one, RGB of three. It
/// was read with the picture if its source was asked to (SourceOptions::layers); else the file is
/// unpacked once more.
/// @throws BadData  there is no such layer or channel, it is of another size, or damaged
[[nodiscard]] Frame read_layer(const Frame& frame, std::string_view layer,
                               const std::vector<std::string>& channels);

}  // namespace lull::io
