#pragma once
// Predicts which content and metadata of an input an output loses. lull calls these functions
// before it writes the first frame.

#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Returns one text for each property of `source` that neither the container nor the encoder can
/// store, apart from the samples of the video. The muxer itself reports streams that the output
/// omits, and content that a selection of frames removes. For containers other than Matroska, WebM,
/// MP4, MOV, MPEG-TS, NUT and AVI, the function assumes that the container stores only streams.
std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder);

/// Returns one text for each layer of an OpenEXR input that is lost in an output with only one
/// picture.
std::vector<std::string> lost_layers(const FileSource& source);

/// Returns the name of the metadata of a single frame that the encoder loses. The text is empty if
/// the encoder loses no metadata.
std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder);

/// Returns whether the container (MP4, MOV) can store at least one tag of `tags` only as a free
/// tag. The name of a free tag is stored as plain text. All other tags of these containers have
/// names from a fixed list.
bool needs_free_tags(const ContainerTraits& container, const AVDictionary* tags);

}  // namespace lull::io
