#include "pipeline/part_denoiser.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "pipeline/repeat_notes.h"

namespace lull::pipeline {
namespace {

/// And without what only filters look at.
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
               std::vector<FrameSpan> spans, Surroundings surroundings)
      : session_(std::move(session)),
        latency_(session_->latency()),
        reopen_(std::move(reopen)),
        spans_(std::move(spans)),
        margin_(surroundings.margin),
        notes_(std::move(surroundings.repeats)),
        idle_(std::move(surroundings.idle)) {}

  int latency() const noexcept override { return latency_; }

  std::optional<Frame> push(Frame frame) override {
    const std::int64_t came = came_++;
    if (came == 0) from_start_ = has_margin() && frame.on_device;
    const bool wanted = is_wanted(frame);
    if (!wanted && running_ && !has_margin()) drain_session();
    const bool looks_on = running_ || at_ < spans_.size();
    if (keeps_lead() && looks_on) notes_.note(frame);
    if (!running_ && (wanted || (from_start_ && looks_on))) begin_session(frame);
    if (keeps_lead()) looks_on ? add_to_lead(frame) : lead_.clear();
    if (running_) {
      inside_.push_back({without_samples(frame), wanted});
      after_ = wanted ? 0 : after_ + (frame.likeness == Likeness::repeats ? 0 : 1);
      const bool may_end = has_margin() && !is_next_near(frame);
      filter(std::move(frame));
      if (may_end && is_over()) drain_session();
    } else {
      ready_.push_back(without_samples(std::move(frame)));
    }
    if (idle_ && !running_) idle_(came);
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
  struct Inside {
    Frame identity;
    bool wanted;
  };

  bool has_margin() const { return margin_ != Margin{}; }
  bool keeps_lead() const { return has_margin() && !from_start_; }

  /// Counts the frame.
  bool is_wanted(const Frame& frame) {
    if (frame.outside) return false;
    const std::int64_t number = frames_++;
    if (at_ < spans_.size() && number > spans_[at_].last) ++at_;
    return at_ < spans_.size() && number >= spans_[at_].first;
  }

  /// Whether a wanted frame may follow before a session that ends now is worth it. Nobody knows how
  /// far it is where frames are outside.
  bool is_next_near(const Frame& frame) const {
    if (at_ == spans_.size()) return false;
    if (from_start_) return true;
    return !frame.outside && spans_[at_].first - (frames_ - 1) <= margin_.before;
  }

  void add_to_lead(const Frame& frame) {
    if (frame.likeness == Likeness::repeats) return;
    lead_.push_back(frame);
    if (lead_.size() > static_cast<std::size_t>(margin_.before) + 1) lead_.pop_front();
  }

  /// A session that begins with the lead of this frame, all of which has come out before. A
  /// repetition also needs the frame that it repeats.
  void begin_session(const Frame& frame) {
    if (!session_) session_ = reopen_();
    running_ = true;
    const std::size_t wish = margin_.before + (frame.likeness == Likeness::repeats ? 1 : 0);
    passed_ = std::min(lead_.size(), wish);
    after_ = 0;
    for (std::size_t left = passed_; left > 0; --left) {
      Frame before = lead_[lead_.size() - left];
      before.aside = static_cast<int>(wish - margin_.before) - static_cast<int>(left);
      filter(std::move(before));
    }
  }

  void filter(Frame frame) {
    for (auto result = session_->push(std::move(frame)); result; result = session_->next())
      take(*std::move(result));
  }

  void take(Frame result) {
    if (passed_ > 0) {
      --passed_;
      return;
    }
    Inside& first = inside_.front();
    ready_.push_back(first.wanted ? std::move(result) : std::move(first.identity));
    inside_.pop_front();
  }

  /// Whether the session has seen all that what is wanted of it depends on. Where nobody knows
  /// which frames are repetitions, whether it has given that back.
  bool is_over() const {
    if (!from_start_ && after_ >= margin_.after) return true;
    return std::ranges::none_of(inside_, &Inside::wanted);
  }

  void drain_session() {
    while (std::ranges::any_of(inside_, &Inside::wanted)) {
      std::optional<Frame> result = session_->drain();
      if (!result) break;
      take(*std::move(result));
    }
    end_session();
  }

  void end_session() {
    for (Inside& rest : inside_) ready_.push_back(std::move(rest.identity));
    inside_.clear();
    passed_ = 0;
    session_.reset();
    running_ = false;
  }

  std::unique_ptr<Denoiser> session_;  // of the next span, or the one that frames are in
  int latency_;
  SessionOpener reopen_;
  std::vector<FrameSpan> spans_;
  Margin margin_;
  RepeatNotes notes_;
  std::function<void(std::int64_t)> idle_;
  bool from_start_ = false;    // a session's lead is all that was before
  bool running_ = false;       // frames go into the session
  std::size_t at_ = 0;         // span; those before are over
  std::int64_t came_ = 0;      // frames
  std::int64_t frames_ = 0;    // of them, that are not outside
  int after_ = 0;              // frames in the session behind the last wanted one, as margins count
  std::size_t passed_ = 0;     // of the session's next results, those of the lead
  std::deque<Frame> lead_;     // noisy: the last that are no repetitions, the margin and one
  std::deque<Inside> inside_;  // the session, but for the lead
  std::deque<Frame> ready_;    // what the last push made ready, less what next() has given
};

}  // namespace

std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session, SessionOpener reopen,
                                   const std::vector<FrameSpan>& wanted,
                                   Surroundings surroundings) {
  return std::make_unique<PartDenoiser>(std::move(session), std::move(reopen), wanted,
                                        std::move(surroundings));
}

}  // namespace lull::pipeline
