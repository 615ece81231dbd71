#pragma once
// Predicts which content and metadata of an input an output loses, before the first frame is
// written.

#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Returns one text for each property of `source` that neither the container nor the encoder can
/// store, except samples of the video. The muxer itself reports streams that the output omits, and
/// content that a selection of frames removes. The function assumes that containers other than
/// Matroska, WebM, MP4, MOV, MPEG-TS, NUT and AVI store only streams.
std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder);

/// Returns one text for each layer of an OpenEXR input that an output with only one picture loses.
std::vector<std::string> lost_layers(const FileSource& source);

/// Returns the name of the metadata of a single frame that the encoder loses; empty if it loses
/// none.
std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder);

/// Returns whether the container (MP4, MOV) can store at least one tag of `tags` only as a free
/// tag, whose name is plain text. The names of other tags come from a fixed list.
bool needs_free_tags(const ContainerTraits& container, const AVDictionary* tags);

}  // namespace lull::io
