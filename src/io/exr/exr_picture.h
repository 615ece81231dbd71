#pragma once
// Converts pictures between OpenEXR files and FFmpeg's frames. FFmpeg's own decoder of OpenEXR
// supports only one layer, and FFmpeg's encoder writes only the picture.

#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"

namespace lull::io {

/// Returns the picture of a file as planar floats: grey, RGB or RGB with alpha. AVFrame::opaque_ref
/// contains the complete file and layers that options.layers chooses. `path` is the file's name in
/// messages.
/// @throws BadData  the file is damaged, deep, subsampled or too large, or contains no picture
FramePtr read_exr(const AVPacket& file, const std::string& path, const SourceOptions& options);

/// Returns the file from which lull read `frame`, with the samples of `frame` and the original
/// alpha.
/// @throws IoError  OpenEXR cannot write the file
PacketPtr write_exr(const Frame& frame);

}  // namespace lull::io
