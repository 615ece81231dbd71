#pragma once
// A denoiser that filters several layers of OpenEXR files together.

#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "io/layers.h"

namespace lull::tools {

/// The session for a denoised layer other than the main layer. The frames of this session contain
/// the samples of `layer`, but the frames of the source contain the samples of the main layer.
struct LayerDenoiser {
  io::LayerName layer;  // the layer, only with the channels that are filtered
  FrameFormat format;
  std::unique_ptr<Denoiser> denoiser;
};

/// Returns a denoiser that passes each frame to `picture`, and the layers of the frame to their
/// sessions. The results are the results of `picture` with the filtered layers (io::set_layers()).
/// @throws BadData  from push(): a layer is missing or has another size
[[nodiscard]] std::unique_ptr<Denoiser> layered(std::unique_ptr<Denoiser> picture,
                                                std::vector<LayerDenoiser> layers);

}  // namespace lull::tools
