#pragma once
// Properties of a video that the source knows before the caller reads the first frame.

#include "io/demux/demuxer.h"
#include "io/media.h"

namespace lull::io {

/// Returns whether the first frame or the container marks the video as interlaced.
bool is_marked_interlaced(const AVFrame& first, const AVStream& stream);

/// Returns the properties of the input that do not depend on the values of samples. The caller must
/// set VideoInfo::still.
VideoInfo describe_input(const Demuxer& demuxer, const AVFrame& first, AVPixelFormat format);

/// Estimates the duration and the number of selected frames from the container. A still picture has
/// one frame.
void estimate_length(const Demuxer& demuxer, const Selection& selection, VideoInfo& info);

}  // namespace lull::io
