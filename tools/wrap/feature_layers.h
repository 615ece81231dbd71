#pragma once
// Selects the layers of a render that are used as auxiliary feature buffers: named by options, or
// found by well-known names.

#include <string>
#include <vector>

#include "io/layers.h"
#include "noise/render/features.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct FeatureLayer {
  Feature feature;
  /// The channels that form a feature buffer; empty if the layer is missing, does not have these
  /// channels, or has another size or position.
  io::LayerName layer;
};

/// The feature buffers of one denoised layer: the first layer of --layer, or the picture without
/// this option. Each session for a further layer has its own object.
///
/// Feature buffers that are found by name must belong to the view of the denoised layer, because
/// the eyes of a stereo pair see surfaces at different positions, and must have its size. lull
/// prefers those with the prefix of the denoised layer (the view layer in "ViewLayer.Combined"),
/// and ignores those of a group that has its own picture. Variances and half buffers without a
/// layer name belong to the sum of all light. For any other layer, lull uses its variance layer
/// ("diffuse_variance", "diffuse.mse"), or estimates its noise.
class FeatureLayers {
 public:
  FeatureLayers() = default;
  /// Selects the layers that --guide auto and --feature request.
  explicit FeatureLayers(const DenoiseOptions& options);

  [[nodiscard]] std::vector<FeatureLayer> select(const std::vector<io::LayerInfo>& all) const;
  /// Returns the layers that the source must read together with each picture
  /// (io::SourceOptions::layers).
  [[nodiscard]] io::LayerChoice choice() const;
  /// Returns whether --guide auto finds a feature buffer for at least one layer with colours.
  [[nodiscard]] static bool any(const std::vector<io::LayerInfo>& all);

 private:
  bool finds_by_name_ = false;
  std::string layer_;  // name of the denoised layer; empty: the picture
  std::vector<FeatureChoice> choices_;
};

/// Returns whether the feature buffer describes the noise of the layer, and not surfaces.
[[nodiscard]] constexpr bool is_noise_feature(Feature feature) {
  return feature == Feature::variance || feature == Feature::half_a || feature == Feature::half_b;
}

}  // namespace lull::tools
