#pragma once
// A session of lull for the buffers of a stream with fixed caps.

#include <gst/video/video.h>

#include <deque>
#include <memory>

#include "choose/clip_settings.h"
#include "core/frame_pool.h"
#include "gstreamer/buffers.h"

namespace lull::gstreamer {

/// Denoises the samples of buffers. For each buffer, the stream returns a result with the times,
/// flags and metadata of the buffer, in the order of the input. Without a given noise level, the
/// stream holds the first frames until it has estimated their noise.
class Stream {
 public:
  static constexpr int estimated_buffers = 8;

  /// @throws any exception of choose_clip(), format_of() and open_chosen()
  Stream(const ClipSettings& settings, const GstVideoInfo& info);

  /// Takes a buffer, and returns the results that are finished.
  /// @throws Error  after that, the caller may only destroy the stream
  Results push(BufferPtr buffer);
  /// Returns the remaining results. The stream then accepts another clip, and uses the same
  /// estimated noise.
  Results drain();
  /// Discards the buffers in flight.
  void discard();
  /// Returns the number of buffers that may be pushed before the first result is returned.
  int latency() const;

 private:
  void estimate();
  void open();
  void filter_waiting(Results& finished);
  void finish(Frame frame, Results& finished);
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
