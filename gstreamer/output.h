#pragma once
// The buffers that lulldenoise sends: their memory, and their way to the next element.

#include <gst/video/video.h>

#include <memory>

#include "gstreamer/buffers.h"
#include "gstreamer/caps.h"

namespace lull::gstreamer {

/// Owns a reference to a buffer pool.
struct ReleasePool {
  void operator()(GstBufferPool* pool) const { gst_object_unref(pool); }
};
using PoolPtr = std::unique_ptr<GstBufferPool, ReleasePool>;

/// Sends results in the memory of the input if the next element accepts this memory, otherwise in
/// the other memory. Buffers in CUDAMemory come from a pool that the next element proposes. Only
/// the streaming thread may use an Output, or any thread while no streaming thread runs.
class Output {
 public:
  /// `source` must outlive the Output, except its destructor.
  explicit Output(GstPad* source) : source_(source) {}
  ~Output() { stop(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Sends the caps of the results for an input with the caps `input`. If the result is not
  /// GST_FLOW_OK, the next call of push() tries this again.
  /// @throws InvalidArgument  the next element accepts CUDAMemory only and proposes no pool
  GstFlowReturn set_input(GstCaps* input);
  /// Writes a result into a new buffer and sends the buffer.
  /// @throws Error  no buffer can be made, or as set_input()
  GstFlowReturn push(Result result);
  /// Releases the pool. The next use must be set_input().
  void stop();

 private:
  GstFlowReturn negotiate();
  GstFlowReturn try_candidates();
  void use(PoolPtr pool, const GstVideoInfo& info);
  GstFlowReturn acquire(BufferPtr& buffer);

  GstPad* source_;
  CapsPtr input_;
  GstVideoInfo info_{};  // frames of the results
  PoolPtr pool_;         // null: the results are in system memory
};

}  // namespace lull::gstreamer
