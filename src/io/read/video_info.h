#pragma once
// What is told of a video before its frames are read.

#include "io/demux/demuxer.h"
#include "io/media.h"

namespace lull::io {

/// By what the first frame or the container says.
bool is_marked_interlaced(const AVFrame& first, const AVStream& stream);

/// Of a video, or of pictures: all that does not need a frame's samples. `still` is unknown yet.
VideoInfo describe_input(const Demuxer& demuxer, const AVFrame& first, AVPixelFormat format);

/// How long it lasts and how many frames of it are selected, as far as the file says; one, if it is
/// still.
void estimate_length(const Demuxer& demuxer, const Selection& selection, VideoInfo& info);

}  // namespace lull::io
