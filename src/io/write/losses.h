#pragma once
// Predicts before the first frame which content and metadata of the input an output loses.

#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Returns one text for each property of `source` that neither container nor encoder can store,
/// without the lost samples and omitted streams that the muxer reports. Only Matroska, WebM, MP4,
/// MOV, MPEG-TS, NUT and AVI are assumed to store more than streams.
std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder);

/// Returns one text for each layer of an OpenEXR input that a picture in another format loses.
std::vector<std::string> lost_layers(const FileSource& source);

/// Returns the name of the metadata that the encoder loses from a single frame; empty if the
/// encoder loses no metadata.
std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder);

/// Returns whether the container (MP4, MOV) can store one of `tags` only as a free tag, whose name
/// is plain text instead of an entry of a fixed list.
bool needs_free_tags(const ContainerTraits& container, const AVDictionary* tags);

}  // namespace lull::io
