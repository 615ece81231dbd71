#pragma once
// Which layers of a render are features: by the names that renderers give them, or as the user
// says.

#include <string>
#include <vector>

#include "io/layers.h"
#include "noise/render/features.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct FeatureLayer {
  Feature feature;
  io::LayerName layer;  // with the channels that the feature is made of; none: there are not these
};

class FeatureLayers {
 public:
  FeatureLayers() = default;
  /// Those that --guide auto and --feature ask for.
  explicit FeatureLayers(const DenoiseOptions& options);

  [[nodiscard]] std::vector<FeatureLayer> among(const std::vector<io::LayerName>& all) const;
  /// What is read with a picture for them (io::SourceOptions::layers).
  [[nodiscard]] io::LayerChoice choice() const;

 private:
  bool by_names_ = false;
  std::vector<FeatureChoice> given_;
};

}  // namespace lull::tools
