#pragma once
// Plans the denoised layers and the copied layers of an OpenEXR file.

#include <string>
#include <vector>

#include "io/layers.h"

namespace lull::tools {

struct LayerPlan {
  /// The denoised layers. The source returns the samples of the first layer as frames. Empty if the
  /// input has no layers.
  std::vector<io::LayerInfo> denoised;
  /// Labels of the copied layers, and of single copied channels of denoised layers.
  std::vector<std::string> copied;

  /// Returns a string such as "denoised: RGB, right; copied: depth", or an empty string if the file
  /// contains only a picture.
  [[nodiscard]] std::string text() const;
};

/// Plans the denoised and the copied layers of an open source.
/// @param names  layers of --layer; if empty, all layers with colours
/// @param keeps_layers  whether the output contains all layers
/// @param input, output  names for messages
/// @throws BadData  a layer does not exist, or contains no colours
/// @throws InvalidArgument  several names for one picture
[[nodiscard]] LayerPlan plan_layers(const std::vector<io::LayerInfo>& all,
                                    const std::vector<std::string>& names, bool keeps_layers,
                                    const std::string& input, const std::string& output);

}  // namespace lull::tools
