#pragma once
// The features of a run of renders: layers of the input, or other files.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/denoiser.h"
#include "io/media.h"
#include "noise/render/features.h"
#include "tools/options/denoise_options.h"
#include "tools/wrap/side_input.h"
#include "tools/wrap/feature_layers.h"

namespace lull::tools {

/// Where each frame's features come from.
struct FeatureSources {
  struct File {
    Feature feature;
    SideInput file;
    std::int64_t read = 0;  // frames of it
  };
  FeatureLayers layers;  // of the input
  std::vector<File> files;
  std::string input;
};

/// Those of the options, files opened as `input` was, with `options`.
/// @throws NoInput, BadData as io::open_source(); BadData  a file is of another size than the input
[[nodiscard]] FeatureSources open_features(const DenoiseOptions& given,
                                           const io::SourceOptions& options,
                                           const io::MediaSource& input);

/// Gives each frame that goes into `denoiser` its features (Frame::features).
/// @throws BadData  from push(), or at once: a layer is missing or of another size, a file ends too
///                  early
[[nodiscard]] std::unique_ptr<Denoiser> featured(std::unique_ptr<Denoiser> denoiser,
                                                 FeatureSources sources, FirstFrame first_frame = {});

}  // namespace lull::tools
