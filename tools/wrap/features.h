#pragma once
// The features of a run of renders: layers of the input, or other files.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/denoiser.h"
#include "io/media.h"
#include "noise/render/features.h"
#include "tools/options/denoise_options.h"
#include "tools/wrap/beside.h"

namespace lull::tools {

/// Where each frame's features come from.
struct FeatureSources {
  struct One {
    Feature feature;
    std::string layer;             // of the input
    std::optional<Beside> file{};  // in place of it
    std::int64_t read = 0;         // frames of it
  };
  bool by_names = false;  // those of the input's layers that have a name that renderers give them
  std::vector<One> given;
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
                                                 FeatureSources sources, PartFrom part_from = {});

}  // namespace lull::tools
