#pragma once
// Converts pictures and all their layers between OpenEXR files and FFmpeg's frames. FFmpeg's own
// codec supports only one layer.

#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"

namespace lull::io {

/// Returns the picture as planar floats: grey, RGB or RGB with alpha. AVFrame::opaque_ref contains
/// the file and the layers of options.layers. `path` is the file's name in messages.
/// @throws BadData  the file is damaged, deep, subsampled or too large, contains no picture, or
///     contains luminance and chroma instead of R, G and B
FramePtr read_exr(const AVPacket& file, const std::string& path, const SourceOptions& options);

/// Returns a copy of the OpenEXR file from which read_exr() read `frame`. In the copy, the samples
/// of `frame` replace the original samples, except alpha.
/// @throws IoError  OpenEXR cannot write the file
PacketPtr write_exr(const Frame& frame);

}  // namespace lull::io
