#pragma once
// What of an input an output cannot carry, known before the first frame is written.

#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// One text for each thing of `source` that would be lost or changed beside the samples of the
/// video: what the container lacks, what the encoder lacks and the container does not make up for.
/// Streams that are left out are the muxer's business, and so is what a cut takes away. Containers
/// that are not known (anything but Matroska, WebM, MP4, MOV, MPEG-TS, NUT, AVI) count as if they
/// carried nothing but streams.
std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder);

/// Names a thing that travels with `frame` alone and that the encoder does not take; empty if there
/// is none.
std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder);

/// Whether the container (MP4, MOV) needs its free form of tags, names in plain text, to keep all
/// of `tags`; the usual form knows a list.
bool needs_free_tags(const ContainerTraits& container, const AVDictionary* tags);

}  // namespace lull::io
