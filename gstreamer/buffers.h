#pragma once
// Owners of buffers, and of the results of a stream.

#include <gst/video/video.h>

#include <memory>
#include <vector>

#include "core/error.h"
#include "core/frame.h"

namespace lull::gstreamer {

/// Owns a reference to a buffer.
struct ReleaseBuffer {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using BufferPtr = std::unique_ptr<GstBuffer, ReleaseBuffer>;

/// Copies the times, flags and metadata of a buffer, except the metadata that describe its memory.
/// @throws InternalError
inline void copy_properties(GstBuffer* from, GstBuffer* to) {
  constexpr int parts = GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META;
  if (!gst_buffer_copy_into(to, from, static_cast<GstBufferCopyFlags>(parts), 0,
                            static_cast<gsize>(-1)))
    throw InternalError("the metadata of a buffer cannot be copied");
}

/// A filtered frame, and a buffer without memory that has the times, flags and metadata of the
/// frame.
struct Result {
  Frame frame;
  BufferPtr buffer;
};
using Results = std::vector<Result>;

/// A buffer whose samples are mapped into host memory. GStreamer copies samples in GPU memory to
/// the host when a buffer is mapped, and written samples to the GPU when the next element maps the
/// buffer.
class Mapped {
 public:
  /// @throws BadData  the buffer cannot be mapped; the message is `problem`
  Mapped(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags, const char* problem) {
    if (!gst_video_frame_map(&frame, const_cast<GstVideoInfo*>(&info), buffer, flags))
      throw BadData(problem);
  }
  ~Mapped() { gst_video_frame_unmap(&frame); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  GstVideoFrame frame;
};

}  // namespace lull::gstreamer
