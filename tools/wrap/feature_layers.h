#pragma once
// Selects the layers of a render that are used as features. Either the user names them, or lull
// finds them by well-known names.

#include <string>
#include <vector>

#include "io/layers.h"
#include "noise/render/features.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct FeatureLayer {
  Feature feature;
  /// The channels that form a feature. Empty: the layer is missing, does not have these channels,
  /// or has another size or position.
  io::LayerName layer;
};

/// The features of the layer that the run, or one of its sessions, denoises: the first layer of
/// --layer, or the picture if --layer is not given.
///
/// Features found by name belong to the same view, because the eyes of a stereo pair see surfaces
/// at different positions. They have the size of the denoised layer. Features with the same prefix
/// (the view layer in "ViewLayer.Combined") are preferred; features of a group that has its own
/// picture are not used. Variances and half buffers without a layer name belong to the sum of all
/// light. For any other layer, the variance layer of this layer is used ("diffuse_variance",
/// "diffuse.mse"), or its noise is estimated.
class FeatureLayers {
 public:
  FeatureLayers() = default;
  /// Selects the layers that --guide auto and --feature request.
  explicit FeatureLayers(const DenoiseOptions& options);

  [[nodiscard]] std::vector<FeatureLayer> select(const std::vector<io::LayerInfo>& all) const;
  /// Returns the layers that must be read together with each picture (io::SourceOptions::layers).
  [[nodiscard]] io::LayerChoice choice() const;
  /// Returns whether --guide auto finds a feature for at least one layer with colours.
  [[nodiscard]] static bool any(const std::vector<io::LayerInfo>& all);

 private:
  bool finds_by_name_ = false;
  std::string layer_;  // name of the denoised layer; empty: the picture
  std::vector<FeatureChoice> choices_;
};

/// Returns whether the feature describes the noise of the layer; if not, it describes surfaces.
[[nodiscard]] constexpr bool is_noise_feature(Feature feature) {
  return feature == Feature::variance || feature == Feature::half_a || feature == Feature::half_b;
}

}  // namespace lull::tools
