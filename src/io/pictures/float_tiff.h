#pragma once
// TIFF files of floats, with libtiff: FFmpeg knows none.

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Whether `path` is a TIFF file whose first page has samples of floats.
bool is_float_tiff(const std::string& path);

/// The first page, as FFmpeg's planar floats: 16 or 32 bits a sample; grey, RGB or RGB with alpha.
/// `path` is for messages. @throws BadData  damaged, or of another kind
FramePtr read_float_tiff(const AVPacket& file, const std::string& path, std::int64_t max_pixels);

/// A whole file, compressed by deflate with the predictor for floats. `alpha` may be null.
PacketPtr write_float_tiff(const Frame& frame, const Frame* alpha);

}  // namespace lull::io
