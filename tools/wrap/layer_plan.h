#pragma once
// Plans which layers of an OpenEXR file a run denoises, and which layers it copies.

#include <string>
#include <vector>

#include "io/layers.h"

namespace lull::tools {

struct LayerPlan {
  /// The denoised layers. The first layer is the picture of the source. Empty: the input has no
  /// layers.
  std::vector<io::LayerInfo> denoised;
  /// Labels of the copied layers, and of single copied channels of denoised layers.
  std::vector<std::string> copied;

  /// Returns a text such as "denoised: RGB, right; copied: depth"; empty if the file has only a
  /// picture.
  [[nodiscard]] std::string text() const;
};

/// Plans which layers are denoised and which are copied.
/// @param all  layers of the open source; if `names` is not empty, the picture of the source must
///     be the first layer of `names`
/// @param names layers that --layer selects; empty: all layers with colours
/// @param keeps_layers  true: the output contains all layers; false: only the picture
/// @param input, output  names for messages
/// @throws BadData  a layer does not exist or contains data, or the file has no picture of light
/// @throws InvalidArgument there are several names, but the output contains only one picture
[[nodiscard]] LayerPlan plan_layers(const std::vector<io::LayerInfo>& all,
                                    const std::vector<std::string>& names, bool keeps_layers,
                                    const std::string& input, const std::string& output);

}  // namespace lull::tools
