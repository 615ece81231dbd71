#include "gstreamer/stream.h"

#include <new>
#include <utility>

#include "core/error.h"
#include "gstreamer/formats.h"
#include "noise/estimate/estimate.h"

namespace lull::gstreamer {
namespace {

/// A buffer whose samples are mapped.
class Mapped {
 public:
  Mapped(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags) {
    if (!gst_video_frame_map(&frame, const_cast<GstVideoInfo*>(&info), buffer, flags))
      throw BadData("a buffer does not contain a frame of its caps; check the element before");
  }
  ~Mapped() { gst_video_frame_unmap(&frame); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  GstVideoFrame frame;
};

/// Returns a buffer with the times, flags and metadata of `buffer`, but without its memory and
/// without the metadata that describes this memory. The previous element can then use the memory
/// again, which it may need before it can send another buffer.
BufferPtr without_memory(GstBuffer* buffer) {
  constexpr int parts = GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META;
  BufferPtr copy(gst_buffer_new());
  if (!gst_buffer_copy_into(copy.get(), buffer, static_cast<GstBufferCopyFlags>(parts), 0,
                            static_cast<gsize>(-1)))
    throw InternalError("the metadata of a buffer cannot be copied");
  return copy;
}

/// Returns whether frames contain bytes that belong to no sample, such as padding at the end of
/// rows.
bool has_padding(const GstVideoInfo& info, const FrameFormat& format) {
  gsize bytes = 0;
  for (int i = 0; i < format.planes(); ++i)
    bytes += static_cast<gsize>(format.plane_width(i)) * format.plane_height(i) *
             format.bytes_per_sample();
  return bytes < GST_VIDEO_INFO_SIZE(&info);
}

/// Adds memory for a frame. Padding becomes 0, so that equal frames have equal bytes.
void add_memory(GstBuffer* buffer, const GstVideoInfo& info, const FrameFormat& format) {
  const gsize bytes = GST_VIDEO_INFO_SIZE(&info);
  GstMemory* memory = gst_allocator_alloc(nullptr, bytes, nullptr);
  if (memory == nullptr) throw std::bad_alloc();
  gst_buffer_append_memory(buffer, memory);
  if (has_padding(info, format)) gst_buffer_memset(buffer, 0, 0, bytes);
}

}  // namespace

Stream::Stream(const ClipSettings& settings, const GstVideoInfo& info)
    : info_(info), format_(format_of(info)), choice_(choose_clip(settings)), pool_(format_) {
  if (!choice_.estimates) open();
}

void Stream::open() { session_ = open_chosen(choice_.session, format_).denoiser; }

int Stream::latency() const { return session_ ? session_->latency() : estimated_buffers - 1; }

Frame Stream::frame_of(GstBuffer* buffer) {
  Frame frame = pool_.acquire();
  const Mapped samples(info_, buffer, GST_MAP_READ);
  copy_samples(samples.frame, frame);
  frame.pts = count_++;
  frame.duration = 1;
  frame.time_base = {1, 25};
  return frame;
}

Buffers Stream::push(BufferPtr buffer) {
  Buffers finished;
  waiting_.push_back(frame_of(buffer.get()));
  buffers_.push_back(without_memory(buffer.get()));
  if (!session_ && waiting_.size() < estimated_buffers) return finished;
  if (!session_) estimate();
  filter_waiting(finished);
  return finished;
}

Buffers Stream::drain() {
  Buffers finished;
  if (buffers_.empty()) return finished;
  if (!session_) estimate();
  filter_waiting(finished);
  while (const auto result = session_->drain()) finish(*result, finished);
  count_ = 0;
  return finished;
}

void Stream::discard() {
  waiting_.clear();
  buffers_.clear();
  count_ = 0;
  if (session_) open();
}

/// Estimates the noise in the waiting frames and opens the session.
void Stream::estimate() {
  const std::vector<Excerpt> excerpts{Excerpt(waiting_.begin(), waiting_.end())};
  const NoiseModel noise = estimate_noise(excerpts).noise;
  choice_.session.noise = choice_.strength == 1 ? noise : scaled(noise, choice_.strength);
  open();
}

void Stream::filter_waiting(Buffers& finished) {
  while (!waiting_.empty()) {
    Frame frame = std::move(waiting_.front());
    waiting_.pop_front();
    for (auto result = session_->push(std::move(frame)); result; result = session_->next())
      finish(*result, finished);
  }
}

/// Writes a result into new memory of the oldest buffer in flight, so that the result has the
/// metadata of this buffer. The rows have the default stride of the caps, because the next element
/// may not support other strides.
void Stream::finish(const Frame& result, Buffers& finished) {
  if (buffers_.empty()) throw InternalError("a session returned more frames than it received");
  BufferPtr buffer = std::move(buffers_.front());
  buffers_.pop_front();
  add_memory(buffer.get(), info_, format_);
  {
    Mapped samples(info_, buffer.get(), GST_MAP_WRITE);
    copy_samples(result, samples.frame);
  }
  finished.push_back(std::move(buffer));
}

}  // namespace lull::gstreamer
