#pragma once
// TIFF files with float samples, read and written with libtiff. FFmpeg does not support them.

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns whether `path` is a TIFF file whose first page has float samples.
bool is_float_tiff(const std::string& path);

/// Returns the first page as FFmpeg's planar floats. The file may have 16 or 32 bits per sample;
/// grey, RGB or RGB with alpha. `path` is for messages.
/// @throws BadData  damaged, or of another kind
FramePtr read_float_tiff(const AVPacket& file, const std::string& path, std::int64_t max_pixels);

/// Returns a complete file, compressed with deflate and the predictor for floats. `alpha` may be
/// null.
PacketPtr write_float_tiff(const Frame& frame, const Frame* alpha);

}  // namespace lull::io
