#include "gstreamer/stream.h"

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
  buffers_.push_back(std::move(buffer));
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

/// Writes a result into the oldest buffer in flight, so that the result has the metadata of this
/// buffer.
void Stream::finish(const Frame& result, Buffers& finished) {
  if (buffers_.empty()) throw InternalError("a session returned more frames than it received");
  BufferPtr buffer(gst_buffer_make_writable(buffers_.front().release()));
  buffers_.pop_front();
  {
    Mapped samples(info_, buffer.get(), GST_MAP_WRITE);
    copy_samples(result, samples.frame);
  }
  finished.push_back(std::move(buffer));
}

}  // namespace lull::gstreamer
