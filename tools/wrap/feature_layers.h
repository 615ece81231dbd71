#pragma once
// Selects the layers of a render that serve as features: the user names them, or lull finds them by
// well-known names.

#include <string>
#include <vector>

#include "io/layers.h"
#include "noise/render/features.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct FeatureLayer {
  Feature feature;
  /// The channels that form the feature. No channels: the layer is missing or does not have them.
  io::LayerName layer;
};

class FeatureLayers {
 public:
  FeatureLayers() = default;
  /// Selects the layers that --guide auto and --feature request.
  explicit FeatureLayers(const DenoiseOptions& options);

  [[nodiscard]] std::vector<FeatureLayer> select(const std::vector<io::LayerName>& all) const;
  /// Returns the layers that must be read together with each picture (io::SourceOptions::layers).
  [[nodiscard]] io::LayerChoice choice() const;

 private:
  bool finds_by_name_ = false;
  std::vector<FeatureChoice> choices_;
};

}  // namespace lull::tools
