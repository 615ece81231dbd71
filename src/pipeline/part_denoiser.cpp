#include "pipeline/part_denoiser.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace lull::pipeline {
namespace {

Frame without_samples(Frame frame) {
  frame.pixels.reset();
  frame.planes = {};
  frame.on_device.reset();
  return frame;
}

/// The noisy frames that a session has to begin with if it is to begin now.
class Lead {
 public:
  explicit Lead(Surroundings surroundings) : surroundings_(std::move(surroundings)) {}

  void add(Frame& frame) {
    const Standing standing =
        surroundings_.standing ? surroundings_.standing(frame) : Standing::entry;
    if (is_long()) clear();
    if (frames_.empty() && standing != Standing::entry) return;
    frames_.push_back({frame, standing});
    distinct_ += standing != Standing::repeats;
    shorten();
  }
  void clear() {
    frames_.clear();
    distinct_ = 0;
    broken_ = true;
  }

  /// Whether a session that began now would know all that it has to.
  bool suffices() const { return !is_long() && (!broken_ || distinct_ > surroundings_.margin); }
  /// Whether it is time to let a session have it.
  bool is_long() const { return distinct_ > 3 * (surroundings_.margin + 1); }
  /// How many there are before the frame that was added last.
  std::size_t size() const { return frames_.empty() ? 0 : frames_.size() - 1; }
  const Frame& operator[](std::size_t i) const { return frames_[i].frame; }

 private:
  struct Entry {
    Frame frame;
    Standing standing;
  };

  // Of the distinct frames that are left, the last is what the last frame depends on.
  void shorten() {
    int left = distinct_;
    std::size_t enough = 0;
    for (std::size_t i = 0; i < frames_.size() && left > surroundings_.margin; ++i) {
      if (frames_[i].standing == Standing::entry) enough = i;
      left -= frames_[i].standing != Standing::repeats;
    }
    for (; enough > 0; --enough) {
      distinct_ -= frames_.front().standing != Standing::repeats;
      frames_.pop_front();
    }
  }

  Surroundings surroundings_;
  std::deque<Entry> frames_;
  int distinct_ = 0;
  bool broken_ = false;  // there may be less than a session needs
};

class PartDenoiser final : public Denoiser {
 public:
  PartDenoiser(std::unique_ptr<Denoiser> session, SessionOpener reopen,
               std::vector<FrameSpan> spans, Surroundings surroundings)
      : session_(std::move(session)),
        latency_(session_->latency()),
        reopen_(std::move(reopen)),
        spans_(std::move(spans)),
        margin_(surroundings.margin),
        lead_(std::move(surroundings)) {}

  int latency() const noexcept override { return latency_; }

  std::optional<Frame> push(Frame frame) override {
    const std::int64_t number = frames_++;
    if (number == 0) from_start_ = margin_ > 0 && frame.on_device;
    if (at_ < spans_.size() && number > spans_[at_].last) {
      ++at_;
      if (margin_ == 0) drain_session();
    }
    const bool wanted = at_ < spans_.size() && number >= spans_[at_].first;
    if (margin_ > 0 && !from_start_) look_at(frame, wanted);
    const bool early = at_ < spans_.size() && (from_start_ || lead_.is_long());
    if (!running_ && (wanted || early)) begin_session();
    if (running_) {
      inside_.push_back({without_samples(frame), wanted});
      filter(std::move(frame));
      if (margin_ > 0 && is_over(number)) end_session();
    } else {
      ready_.push_back(without_samples(std::move(frame)));
    }
    return next();
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

  std::optional<Frame> next() {
    if (ready_.empty()) return std::nullopt;
    Frame frame = std::move(ready_.front());
    ready_.pop_front();
    return frame;
  }

  void look_at(Frame& frame, bool wanted) {
    const bool last_session = running_ && wanted && at_ + 1 == spans_.size();
    if (at_ < spans_.size() && !last_session)
      lead_.add(frame);
    else
      lead_.clear();
  }

  // Frames of the lead have come out before.
  void begin_session() {
    if (!session_) session_ = reopen_();
    running_ = true;
    passed_ = lead_.size();
    for (std::size_t i = 0; i < lead_.size(); ++i) filter(lead_[i]);
  }

  void filter(Frame frame) {
    if (std::optional<Frame> result = session_->push(std::move(frame))) take(*std::move(result));
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

  /// Whether the session has given back all that is wanted of it, and the next span is far.
  bool is_over(std::int64_t number) const {
    if (std::ranges::any_of(inside_, &Inside::wanted)) return false;
    if (at_ == spans_.size()) return true;
    return !from_start_ && spans_[at_].first - number > margin_ && lead_.suffices();
  }

  void drain_session() {
    while (std::optional<Frame> result = session_->drain()) take(*std::move(result));
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
  int margin_;
  Lead lead_;
  bool from_start_ = false;    // a session's lead is all that was before
  bool running_ = false;       // frames go into the session
  std::size_t at_ = 0;         // span; those before are over
  std::int64_t frames_ = 0;    // that came in
  std::size_t passed_ = 0;     // of the session's next results, those of the lead
  std::deque<Inside> inside_;  // the session, but for the lead
  std::deque<Frame> ready_;    // no more than the latency of a session, and one
};

}  // namespace

std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session, SessionOpener reopen,
                                   const std::vector<FrameSpan>& wanted,
                                   Surroundings surroundings) {
  return std::make_unique<PartDenoiser>(std::move(session), std::move(reopen), wanted,
                                        std::move(surroundings));
}

}  // namespace lull::pipeline
