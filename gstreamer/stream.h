#pragma once
// A session of lull for the buffers of a stream with fixed caps.

#include <gst/video/video.h>

#include <deque>
#include <memory>
#include <vector>

#include "choose/clip_settings.h"
#include "core/frame_pool.h"

namespace lull::gstreamer {

/// Owns a reference to a buffer.
struct ReleaseBuffer {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using BufferPtr = std::unique_ptr<GstBuffer, ReleaseBuffer>;
using Buffers = std::vector<BufferPtr>;

/// Denoises the samples of buffers. For each buffer, the stream returns a new buffer with the
/// times, flags and metadata of the input, in the order of the input. Without a given noise level,
/// the stream holds the first frames until it has estimated their noise.
class Stream {
 public:
  static constexpr int estimated_buffers = 8;

  /// @throws any exception of choose_clip(), format_of() and open_chosen()
  Stream(const ClipSettings& settings, const GstVideoInfo& info);

  /// Takes a buffer, and returns those that are finished.
  /// @throws Error  after that, the caller may only destroy the stream
  Buffers push(BufferPtr buffer);
  /// Returns the remaining buffers. The stream then accepts another clip, and uses the same
  /// estimated noise.
  Buffers drain();
  /// Discards the buffers in flight.
  void discard();
  /// Returns the number of buffers that may be pushed before the first one is returned.
  int latency() const;

 private:
  void estimate();
  void open();
  void filter_waiting(Buffers& finished);
  void finish(const Frame& result, Buffers& finished);
  Frame frame_of(GstBuffer* buffer);

  GstVideoInfo info_;
  FrameFormat format_;
  ClipChoice choice_;
  FramePool pool_;
  std::unique_ptr<Denoiser> session_;  // null: the noise is not known yet
  std::deque<BufferPtr> buffers_;      // in flight, in order; without memory
  std::deque<Frame> waiting_;          // frames before the estimate
  std::int64_t count_ = 0;             // frames of the clip so far
};

}  // namespace lull::gstreamer
