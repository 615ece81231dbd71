#pragma once
// Predicts before the first frame which content and metadata of the input an output loses.

#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Returns one text for each property of `source` that neither the container nor the encoder can
/// store. The muxer, and not this function, reports lost samples of the video, omitted streams, and
/// content that a selection of frames removes. The function assumes that containers other than
/// Matroska, WebM, MP4, MOV, MPEG-TS, NUT and AVI store only streams.
std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder);

/// Returns one text for each layer of an OpenEXR input that the output loses, because the output
/// has only one picture.
std::vector<std::string> lost_layers(const FileSource& source);

/// Returns the name of the metadata that the encoder loses from a single frame. The name is empty
/// if the encoder loses no metadata.
std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder);

/// Returns whether the container (MP4, MOV) can store at least one of `tags` only as a free tag.
/// The name of a free tag is plain text. The names of all other tags come from a fixed list.
bool needs_free_tags(const ContainerTraits& container, const AVDictionary* tags);

}  // namespace lull::io
