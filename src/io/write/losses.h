#pragma once
// Finds content and metadata of the input that the output cannot store.

#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Returns one string for each property of `source` that neither container nor encoder can store.
/// The result does not include omitted streams and properties of samples. If the table in
/// io/encode/traits.h does not list a container, the function assumes that the container stores no
/// properties.
std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder);

/// Returns one string for each layer of an OpenEXR input, except the layers of the picture. Outputs
/// in another format or of another size lose these layers.
std::vector<std::string> lost_layers(const FileSource& source);

/// Checks whether the encoder can store the A53 captions and the HDR10+ metadata of a frame.
/// Returns a message about the first loss; empty if the encoder can store both.
std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder);

}  // namespace lull::io
