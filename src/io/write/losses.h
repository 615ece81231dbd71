#pragma once
// Predicts which content and metadata of an input an output loses, before the first frame is
// written.

#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Returns one text for each property of `source` that would be lost or changed, apart from samples
/// of the video: properties that neither the container nor the encoder keeps. The muxer reports
/// omitted streams, and what a selection of frames removes. Unknown containers (all except
/// Matroska, WebM, MP4, MOV, MPEG-TS, NUT, AVI) count as containers that keep only streams.
std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder);

/// Returns one text for each layer of an OpenEXR input that an output with one picture loses.
std::vector<std::string> lost_layers(const FileSource& source);

/// Returns the name of metadata that belong to the single frame and that the encoder loses; empty
/// if there are none.
std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder);

/// Returns whether the container (MP4, MOV) can keep all of `tags` only as free tags, which have
/// names in plain text. The usual tags have a fixed list of names.
bool needs_free_tags(const ContainerTraits& container, const AVDictionary* tags);

}  // namespace lull::io
