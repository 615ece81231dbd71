#pragma once
// Predicts which content and metadata of an input an output loses, before the first frame is
// written.

#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Returns one text for each property of `source` that neither the container nor the encoder keeps,
/// apart from the samples of the video. The texts do not cover streams that the output omits or
/// content that a selection of frames removes: the muxer reports these. A container other than
/// Matroska, WebM, MP4, MOV, MPEG-TS, NUT and AVI is assumed to keep only streams.
std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder);

/// Returns one text for each layer of an OpenEXR input that an output with one picture loses.
std::vector<std::string> lost_layers(const FileSource& source);

/// Returns the name of the metadata of a single frame that the encoder loses; empty if it loses
/// none.
std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder);

/// Returns whether the container (MP4, MOV) can store at least one of `tags` only as a free tag,
/// whose name is stored as plain text. The usual tags of these containers have names from a fixed
/// list.
bool needs_free_tags(const ContainerTraits& container, const AVDictionary* tags);

}  // namespace lull::io
