#include "gstreamer/stream.h"

#include <utility>

#include "core/error.h"
#include "gstreamer/formats.h"
#include "noise/estimate/estimate.h"

namespace lull::gstreamer {
namespace {

/// Returns a buffer with the times, flags and metadata of `buffer`, but without its memory and
/// without the metadata that describes this memory. The previous element can then use the memory
/// again, which it may need before it can send another buffer.
BufferPtr without_memory(GstBuffer* buffer) {
  BufferPtr copy(gst_buffer_new());
  copy_properties(buffer, copy.get());
  return copy;
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
  const Mapped samples(info_, buffer, GST_MAP_READ,
                       "a buffer does not contain a frame of its caps; check the element before");
  copy_samples(samples.frame, frame);
  frame.pts = count_++;
  frame.duration = 1;
  frame.time_base = {1, 25};
  return frame;
}

Results Stream::push(BufferPtr buffer) {
  Results finished;
  waiting_.push_back(frame_of(buffer.get()));
  buffers_.push_back(without_memory(buffer.get()));
  if (!session_ && waiting_.size() < estimated_buffers) return finished;
  if (!session_) estimate();
  filter_waiting(finished);
  return finished;
}

Results Stream::drain() {
  Results finished;
  if (buffers_.empty()) return finished;
  if (!session_) estimate();
  filter_waiting(finished);
  while (auto result = session_->drain()) finish(std::move(*result), finished);
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

void Stream::filter_waiting(Results& finished) {
  while (!waiting_.empty()) {
    Frame frame = std::move(waiting_.front());
    waiting_.pop_front();
    for (auto result = session_->push(std::move(frame)); result; result = session_->next())
      finish(std::move(*result), finished);
  }
}

/// Combines a filtered frame with the oldest buffer in flight, whose metadata belong to it.
void Stream::finish(Frame frame, Results& finished) {
  if (buffers_.empty()) throw InternalError("a session returned more frames than it received");
  finished.push_back({std::move(frame), std::move(buffers_.front())});
  buffers_.pop_front();
}

}  // namespace lull::gstreamer
