#pragma once
// Reads the feature buffers of renders: layers of the input or separate files.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/denoiser.h"
#include "io/media.h"
#include "noise/render/features.h"
#include "tools/options/denoise_options.h"
#include "tools/wrap/feature_layers.h"
#include "tools/wrap/side_input.h"

namespace lull::tools {

/// Sources of the feature buffers of each frame: layers of the input, and separate files.
struct FeatureSources {
  struct File {
    Feature feature;
    SideInput file;
    std::int64_t read = 0;  // number of frames that have been read
  };
  FeatureLayers layers;  // layers of the input
  std::vector<File> files;
  std::string input;
};

/// Opens the files of feature buffers that the command line (`given`) names, with the source
/// options of `input`.
/// @throws NoInput  lull cannot open a file
/// @throws BadData  a file is damaged, or has another size than the input
[[nodiscard]] FeatureSources open_features(const DenoiseOptions& given,
                                           const io::SourceOptions& options,
                                           const io::MediaSource& input);

/// Returns a denoiser that sets Frame::features of every frame and passes the frame to `denoiser`.
/// @throws BadData  a layer is missing or has another size, or a file ends too early; push() of the
///     denoiser may throw this error
[[nodiscard]] std::unique_ptr<Denoiser> featured(std::unique_ptr<Denoiser> denoiser,
                                                 FeatureSources sources,
                                                 FirstFrame first_frame = {});

}  // namespace lull::tools
