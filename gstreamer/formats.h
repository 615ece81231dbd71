#pragma once
// The video formats that lulldenoise accepts.

#include <gst/video/video.h>

#include "core/frame.h"

namespace lull::gstreamer {

/// Returns the frame format of a stream. The planes have the order of GStreamer's components: Y,
/// Cb, Cr or R, G, B.
/// @throws InvalidArgument  lull does not support the stream; the message says what helps
[[nodiscard]] FrameFormat format_of(const GstVideoInfo& info);

/// Copies the samples of a mapped frame into a frame of lull, or back. Interleaved chroma becomes
/// two planes. If a format has unused low bits below its samples, they become 0.
void copy_samples(const GstVideoFrame& from, Frame& to);
void copy_samples(const Frame& from, GstVideoFrame& to);

}  // namespace lull::gstreamer
