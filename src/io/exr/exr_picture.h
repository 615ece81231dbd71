#pragma once
// Conversion of pictures between OpenEXR files and FFmpeg's frames. (FFmpeg's own decoder supports
// only one layer, its encoder only the picture.)

#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"

namespace lull::io {

/// Returns the picture of a file: planar floats, grey, RGB or RGB with alpha. AVFrame::opaque_ref
/// holds the complete file and the layers that options.layers chooses, if they cover the picture.
/// Each part is decompressed once. `path` is for messages.
/// @throws BadData  damaged, deep, subsampled, without a picture, or too large
FramePtr read_exr(const AVPacket& file, const std::string& path, const SourceOptions& options);

/// Returns the file that `frame` came from, with the frame's samples instead of the original ones.
/// Alpha is not changed.
/// @throws IoError  the file cannot be written
PacketPtr write_exr(const Frame& frame);

}  // namespace lull::io
