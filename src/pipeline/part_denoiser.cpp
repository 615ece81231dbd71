#include "pipeline/part_denoiser.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "pipeline/repeat_notes.h"

namespace lull::pipeline {
namespace {

/// Returns a copy of the frame without samples, guide and feature buffers.
Frame without_samples(Frame frame) {
  frame.pixels.reset();
  frame.planes = {};
  frame.on_device.reset();
  frame.guide.reset();
  frame.features.reset();
  return frame;
}

class PartDenoiser final : public Denoiser {
 public:
  PartDenoiser(std::unique_ptr<Denoiser> session, SessionOpener reopen,
               std::vector<FrameSpan> spans, PartContext part_context)
      : session_(std::move(session)),
        latency_(session_->latency()),
        reopen_(std::move(reopen)),
        spans_(std::move(spans)),
        margin_(part_context.margin),
        notes_(std::move(part_context.repeats)),
        idle_(std::move(part_context.idle)) {}

  int latency() const noexcept override { return latency_; }

  std::optional<Frame> push(Frame frame) override {
    const std::int64_t received = received_++;
    if (received == 0) from_start_ = has_margin() && frame.on_device;
    const bool wanted = is_wanted(frame);
    if (!wanted && running_ && !has_margin()) drain_session();
    const bool may_need_frames = running_ || at_ < spans_.size();
    if (keeps_lead() && may_need_frames) notes_.note(frame);
    if (!running_ && (wanted || (from_start_ && may_need_frames))) begin_session(frame);
    if (keeps_lead()) may_need_frames ? add_to_lead(frame) : lead_.clear();
    if (running_) {
      pending_.push_back({without_samples(frame), wanted});
      after_ = wanted ? 0 : after_ + (frame.repeat_state == RepeatState::repeats ? 0 : 1);
      const bool may_end = has_margin() && !is_next_near(frame);
      filter(std::move(frame));
      if (may_end && is_complete()) drain_session();
    } else {
      ready_.push_back(without_samples(std::move(frame)));
    }
    if (idle_ && !running_) idle_(received);
    return next();
  }

  std::optional<Frame> next() override {
    if (ready_.empty()) return std::nullopt;
    Frame frame = std::move(ready_.front());
    ready_.pop_front();
    return frame;
  }

  std::optional<Frame> drain() override {
    if (std::optional<Frame> frame = next()) return frame;
    if (!running_) return std::nullopt;
    while (std::optional<Frame> result = session_->drain()) {
      take(*std::move(result));
      if (std::optional<Frame> frame = next()) return frame;
    }
    return std::nullopt;
  }

 private:
  struct PendingFrame {
    Frame identity;
    bool wanted;
  };

  bool has_margin() const { return margin_ != Margin{}; }
  bool keeps_lead() const { return has_margin() && !from_start_; }

  /// Returns whether the caller needs the result of the frame. The function also increments the
  /// number of frames, unless Frame::context_only is true.
  bool is_wanted(const Frame& frame) {
    if (frame.context_only) return false;
    const std::int64_t number = frames_++;
    if (at_ < spans_.size() && number > spans_[at_].last) ++at_;
    return at_ < spans_.size() && number >= spans_[at_].first;
  }

  /// Returns whether the session must stay open after `frame`: `frame` is needed, or lies in the
  /// margin before the next needed frame. A session that filters the stream from its start stays
  /// open up to the last needed frame. Any other session may end at a context_only frame.
  bool is_next_near(const Frame& frame) const {
    if (at_ == spans_.size()) return false;
    if (from_start_) return true;
    return !frame.context_only && spans_[at_].first - (frames_ - 1) <= margin_.before;
  }

  void add_to_lead(const Frame& frame) {
    if (frame.repeat_state == RepeatState::repeats) return;
    lead_.push_back(frame);
    if (lead_.size() > static_cast<std::size_t>(margin_.before) + 1) lead_.pop_front();
  }

  /// Begins a session before the denoiser pushes `frame`. The result of `frame` depends on the
  /// stored frames before `frame` (lead_), so the function first pushes these stored frames. The
  /// denoiser discards the results of the stored frames.
  void begin_session(const Frame& frame) {
    if (!session_) session_ = reopen_();
    running_ = true;
    const std::size_t lead = margin_.before + (frame.repeat_state == RepeatState::repeats ? 1 : 0);
    results_to_discard_ = std::min(lead_.size(), lead);
    after_ = 0;
    for (std::size_t left = results_to_discard_; left > 0; --left) {
      Frame before = lead_[lead_.size() - left];
      before.context_distance = static_cast<int>(lead - margin_.before) - static_cast<int>(left);
      filter(std::move(before));
    }
  }

  void filter(Frame frame) {
    for (auto result = session_->push(std::move(frame)); result; result = session_->next())
      take(*std::move(result));
  }

  void take(Frame result) {
    if (results_to_discard_ > 0) {
      --results_to_discard_;
      return;
    }
    PendingFrame& first = pending_.front();
    ready_.push_back(first.wanted ? std::move(result) : std::move(first.identity));
    pending_.pop_front();
  }

  /// Returns whether the session needs no further frame: it has received the complete margin after
  /// its last needed frame, or has returned all its needed results.
  bool is_complete() const {
    if (!from_start_ && after_ >= margin_.after) return true;
    return std::ranges::none_of(pending_, &PendingFrame::wanted);
  }

  void drain_session() {
    while (std::ranges::any_of(pending_, &PendingFrame::wanted)) {
      std::optional<Frame> result = session_->drain();
      if (!result) break;
      take(*std::move(result));
    }
    end_session();
  }

  void end_session() {
    for (PendingFrame& rest : pending_) ready_.push_back(std::move(rest.identity));
    pending_.clear();
    results_to_discard_ = 0;
    session_.reset();
    running_ = false;
  }

  std::unique_ptr<Denoiser> session_;  // session for the current span, or for the next one
  int latency_;
  SessionOpener reopen_;
  std::vector<FrameSpan> spans_;
  Margin margin_;
  RepeatNotes notes_;
  std::function<void(std::int64_t)> idle_;
  // If true, one session filters the stream from its start to the last span. Frames in GPU memory
  // are too large to keep for the margin of a later span.
  bool from_start_ = false;
  bool running_ = false;       // whether frames are pushed to the session
  std::size_t at_ = 0;         // index of the current or next span
  std::int64_t received_ = 0;  // number of all frames
  std::int64_t frames_ = 0;    // number of frames that are not context_only
  int after_ = 0;              // number of frames after the last wanted one, counted as margins are
  std::size_t results_to_discard_ = 0;  // number of lead-in frames whose results come next
  // The last margin_.before + 1 noisy input frames, not counting repeated frames.
  std::deque<Frame> lead_;
  std::deque<PendingFrame> pending_;  // frames in the session, without those of the lead-in
  std::deque<Frame> ready_;           // results that are ready
};

}  // namespace

std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session, SessionOpener reopen,
                                   const std::vector<FrameSpan>& wanted, PartContext part_context) {
  return std::make_unique<PartDenoiser>(std::move(session), std::move(reopen), wanted,
                                        std::move(part_context));
}

}  // namespace lull::pipeline
