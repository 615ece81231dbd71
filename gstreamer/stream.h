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

/// Each buffer returns once, in the same order, with its times, flags and metadata, and denoised
/// samples. Without a given noise level, the stream keeps the first buffers until it has estimated
/// the noise in them.
class Stream {
 public:
  static constexpr int estimated_buffers = 8;

  /// @throws any exception of choose_clip(), format_of() and open_chosen()
  Stream(const ClipSettings& settings, const GstVideoInfo& info);

  /// Takes a buffer, and returns those that are finished.
  /// @throws Error  the stream can then only be destroyed
  Buffers push(BufferPtr buffer);
  /// Returns the remaining buffers. The stream then accepts another clip. It keeps the noise
  /// estimate if it has one.
  Buffers drain();
  /// Discards the buffers in flight.
  void discard();
  /// Returns how many buffers may be pushed before the first one returns.
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
  std::deque<BufferPtr> buffers_;      // in flight, in order
  std::deque<Frame> waiting_;          // frames before the estimate
  std::int64_t count_ = 0;             // frames of the clip so far
};

}  // namespace lull::gstreamer
