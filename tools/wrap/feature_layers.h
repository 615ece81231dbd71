#pragma once
// Selects those layers of a render that contain feature buffers, by options or by well-known names.

#include <string>
#include <vector>

#include "io/layers.h"
#include "noise/render/features.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct FeatureLayer {
  Feature feature;
  /// The channels of a feature buffer. The list is empty if the layer is missing, lacks a channel,
  /// or has another size or position.
  io::LayerName layer;
};

/// Selects the feature buffers of one denoised layer. A feature buffer that lull finds by its name
/// must have the view and the size of this layer. lull prefers feature buffers whose name begins
/// with the prefix of this layer, for example "ViewLayer" for the layer "ViewLayer.Combined".
class FeatureLayers {
 public:
  FeatureLayers() = default;
  /// Selects the layers that --guide auto and --feature request.
  explicit FeatureLayers(const DenoiseOptions& options);

  [[nodiscard]] std::vector<FeatureLayer> select(const std::vector<io::LayerInfo>& all) const;
  /// Returns a function that chooses the layers with feature buffers, which the source reads with
  /// each frame (io::SourceOptions::layers).
  [[nodiscard]] io::LayerChoice choice() const;
  /// Returns whether --guide auto finds a feature buffer for at least one layer with colours.
  [[nodiscard]] static bool any(const std::vector<io::LayerInfo>& all);

 private:
  bool finds_by_name_ = false;
  std::string layer_;  // name of the denoised layer; empty: the layer LayerInfo::is_picture
  std::vector<FeatureChoice> choices_;
};

/// Returns whether lull estimates the noise of the render from this feature buffer. Other feature
/// buffers describe properties of surfaces, such as the albedo.
[[nodiscard]] constexpr bool is_noise_feature(Feature feature) {
  return feature == Feature::variance || feature == Feature::half_a || feature == Feature::half_b;
}

}  // namespace lull::tools
