#pragma once
// Pictures of OpenEXR files as FFmpeg's frames, and back. (FFmpeg's own decoder knows one layer,
// its encoder no more than the picture.)

#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"

namespace lull::io {

/// The picture of a file: planar floats, grey, RGB or RGB with alpha. The whole file goes along as
/// AVFrame::opaque_ref, and what options.layers chooses, in so far as it covers the picture: each
/// part is unpacked once. `path` is for messages.
/// @throws BadData  damaged, deep, subsampled, without a picture, or too large
FramePtr read_exr(const AVPacket& file, const std::string& path, const SourceOptions& options);

/// The file that `frame` came from with its samples in place of what was there; alpha stays as it
/// was. @throws IoError  what is in the way of that
PacketPtr write_exr(const Frame& frame);

}  // namespace lull::io
